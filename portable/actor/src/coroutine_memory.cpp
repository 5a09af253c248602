// SPDX-License-Identifier: Apache-2.0
//
// Not inline: a coroutine may go on on another thread, and must not find the first one's source in
// an address it has kept.
#include <tactus/actor/coroutine_memory.hpp>

#include <tactus/actor/actor_world.hpp>
#include <tactus/port/port.hpp>

#include <new>

namespace tactus::inline v0 {

namespace {

struct bound_source {
    memory_source* source = nullptr;
};

/// Behind the frame, so that the frame keeps the block's alignment without a gap.
struct frame_end {
    memory_source* source;
};

constexpr std::size_t frame_alignment = alignof(std::max_align_t);

constexpr std::size_t end_of(std::size_t size) noexcept {
    return (size + alignof(frame_end) - 1) / alignof(frame_end) * alignof(frame_end);
}

frame_end* end_of(void* frame, std::size_t size) noexcept {
    return reinterpret_cast<frame_end*>(static_cast<std::byte*>(frame) + end_of(size));
}

}  // namespace

coroutine_memory::coroutine_memory(memory_source& source) noexcept
    : outer_(port::thread_instance<bound_source>().source) {
    port::thread_instance<bound_source>().source = &source;
}

coroutine_memory::~coroutine_memory() {
    port::thread_instance<bound_source>().source = outer_;
}

void* coroutine_memory::allocate_frame(std::size_t size) noexcept {
    memory_source* source = port::thread_instance<bound_source>().source;
    if (source == nullptr) {
        // A handler that is no coroutine itself calls one.
        const turn* t = turn::current();
        if (t == nullptr || t->system().above() == nullptr)
            return nullptr;
        source = &actor_world::of(t->system()).memory();
    }
    void* frame = source->allocate(end_of(size) + sizeof(frame_end), frame_alignment);
    if (frame != nullptr)
        ::new (end_of(frame, size)) frame_end{source};
    return frame;
}

void coroutine_memory::release_frame(void* frame, std::size_t size) noexcept {
    memory_source* source = std::launder(end_of(frame, size))->source;
    source->release(frame, end_of(size) + sizeof(frame_end), frame_alignment);
}

}  // namespace tactus::inline v0
