// SPDX-License-Identifier: Apache-2.0
//
// Where a line of an actor comes from.
#include <tactus/actor/actor_log.hpp>

#include <tactus/actor/actor_world.hpp>
#include <tactus/dispatch/text_buffer.hpp>

namespace tactus::inline v0 {

bool actor_log::passes(log_level level) const noexcept {
    const logger* to = world_->log();
    return to != nullptr && to->passes(level);
}

void actor_log::write(log_level level, std::string_view text) const noexcept {
    if (!passes(level))
        return;
    text_buffer < port::cache_line<8 ? 96 : 512> path;
    world_->write_path(who_, path);
    world_->log()->write(level, text,
                         {.actor = path.view(), .dispatcher = world_->dispatcher_of(who_)});
}

}  // namespace tactus::inline v0
