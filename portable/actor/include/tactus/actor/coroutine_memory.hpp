// SPDX-License-Identifier: Apache-2.0
//
// Coroutine memory: where the frames of coroutines come from (UP-6).
//
// A coroutine's frame is allocated where its function is called, and the language gives that place
// no argument. So the thread knows the source: whoever runs handlers binds the actor's, and what is
// called meanwhile takes its frames from there. A frame remembers its source behind its end, and
// goes back to it wherever it is destroyed.
//
// Without a binding it is the memory of the actor's world, in the turn of an actor; elsewhere there
// is no source, and the call gives an empty task (see task.hpp), never a frame of the heap that
// nobody granted.
//
// Thread safety: a binding belongs to the thread that made it.
#pragma once

#include <cstddef>

#include <tactus/base/memory_source.hpp>

namespace tactus::inline v0 {

/// While one lives, frames made on this thread come from its source. Bindings nest.
class coroutine_memory {
public:
    /// `source` outlives every frame made of it.
    explicit coroutine_memory(memory_source& source) noexcept;
    ~coroutine_memory();
    coroutine_memory(const coroutine_memory&) = delete;
    coroutine_memory& operator=(const coroutine_memory&) = delete;

    /// Null when there is no binding, or no memory.
    [[nodiscard]] static void* allocate_frame(std::size_t size) noexcept;
    /// Requires: it came from allocate_frame with the same size.
    static void release_frame(void* frame, std::size_t size) noexcept;

private:
    memory_source* outer_;
};

}  // namespace tactus::inline v0
