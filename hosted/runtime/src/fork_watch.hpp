// SPDX-License-Identifier: Apache-2.0
//
// Fork watch: says whether this process is the one in which a system was made.
//
// A forked child has a copy of the system's memory, none of its threads, and its locks as they
// were: some are held for ever. So the child's side of fork(), which runs before anything else
// there, takes every system out of the system table: references find nothing from then on. What a
// program calls on the system itself asks in_child() first, which is off the way of messages.
//
// Thread safety: any thread.
#pragma once

#include <cstdint>

namespace tactus::inline v0::runtime {

class fork_watch {
public:
    /// Throws in a forked child whose parent had a system when it forked, and when the machine has
    /// no memory for the handler of forks (std::system_error).
    fork_watch();
    ~fork_watch();
    fork_watch(const fork_watch&) = delete;
    fork_watch& operator=(const fork_watch&) = delete;

    /// This is a child of the process that made it.
    [[nodiscard]] bool in_child() const noexcept;

private:
    std::uint32_t forks_;  // before this was made
};

}  // namespace tactus::inline v0::runtime
