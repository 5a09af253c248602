// SPDX-License-Identifier: Apache-2.0
//
// Orders to spawn, and who follows them.
#include <tactus/actor/spawn_protocol.hpp>

#include <tactus/dispatch/text_buffer.hpp>

#include <algorithm>

namespace tactus::inline v0 {

spawn_order::spawn_order(memory_source& memory, std::string_view name, any_ref reply_to) noexcept
    : memory_(&memory), reply_to_(reply_to) {
    name_size_ = static_cast<std::uint32_t>(std::min(name.size(), name_size_max));
    std::ranges::copy(name.substr(0, name_size_), name_);
}

spawn_order::spawn_order(spawn_order&& other) noexcept
    : memory_(other.memory_),
      wanted_(std::exchange(other.wanted_, {})),
      reply_to_(other.reply_to_),
      reply_(other.reply_),
      name_size_(other.name_size_) {
    std::copy_n(other.name_, name_size_, name_);
}

spawn_order::~spawn_order() {
    if (wanted_.maker != nullptr)
        wanted_.maker->end(*memory_);
}

void spawn_protocol::on(spawn_order&& message) {
    spawn_order order = std::move(message);
    const std::string_view wanted(order.name_, order.name_size_);
    text_buffer<spawn_order::name_size_max + 12> name;
    name.add(wanted);
    for (std::uint32_t n = 1; !wanted.empty() && context().child(name.view()); ++n) {
        name.clear();
        name.add(wanted).add("-").add(n);
    }
    detail::kept_request r = std::exchange(order.wanted_, {});
    any_ref made;
    if (r.type != nullptr) {
        r.name = name.view();
        const auto child = context().world().spawn_child(context().in(), r);
        if (child)
            made = any_ref(*child);
        else
            context().log().error(child.error().reason);
    }
    if (order.reply_to_)
        order.reply_(order.reply_to_, made);
}

}  // namespace tactus::inline v0
