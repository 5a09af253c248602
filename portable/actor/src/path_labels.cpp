// SPDX-License-Identifier: Apache-2.0
//
// A path, compared with those that were chosen.
#include <tactus/actor/path_labels.hpp>

#include "span_sink.hpp"

#include <tactus/actor/actor_name.hpp>
#include <tactus/dispatch/path_pattern.hpp>

namespace tactus::inline v0 {

std::string_view path_labels::label_of(mailbox_index who, std::span<char> room) noexcept {
    span_sink to(room);
    world_.write_path(who, to);
    std::string_view path = to.text();
    path.remove_prefix(path_scheme.size());
    const std::size_t begin = path.find('/');
    if (begin == std::string_view::npos)
        return {};  // the root: nobody sends it anything
    path.remove_prefix(begin);
    for (const std::string_view pattern : paths_) {
        if (path_fits(pattern, path))
            return path;
    }
    return {};
}

}  // namespace tactus::inline v0
