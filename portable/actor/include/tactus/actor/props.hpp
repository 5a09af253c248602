// SPDX-License-Identifier: Apache-2.0
//
// What an actor is made of: its constructor's arguments, kept so that it can be made again.
//
// Arguments are copied for each instance. What can only be moved is given to the first instance;
// such an actor cannot be restarted, and is stopped instead.
#pragma once

#include <concepts>
#include <new>
#include <tuple>
#include <type_traits>
#include <utility>

#include <tactus/actor/actor_type.hpp>
#include <tactus/base/memory_source.hpp>

namespace tactus::inline v0::detail {

template <class A, class... Args>
class maker_of final : public actor_maker {
public:
    template <class... From>
    explicit maker_of(From&&... from) : args_(std::forward<From>(from)...) {}

    void make(void* place, bool last) override {
        std::apply(
            [&](Args&... args) {
                if constexpr (copies) {
                    if (!last) {
                        ::new (place) A(Args(args)...);
                        return;
                    }
                }
                used_ = true;
                ::new (place) A(std::move(args)...);
            },
            args_);
    }
    [[nodiscard]] bool again() const noexcept override { return copies && !used_; }
    void end(memory_source& memory) noexcept override {
        this->~maker_of();
        memory.release(this, sizeof(maker_of), alignof(maker_of));
    }

    static constexpr bool copies = (std::copy_constructible<Args> && ...);

private:
    std::tuple<Args...> args_;
    bool used_ = false;
};

/// Null when there is no memory. What the arguments' copies throw is thrown.
template <class A, class... Args>
[[nodiscard]] actor_maker* make_maker(memory_source& memory, Args&&... args) {
    using maker = maker_of<A, std::decay_t<Args>...>;
    void* block = memory.allocate(sizeof(maker), alignof(maker));
    if (block == nullptr)
        return nullptr;
    struct unused {
        memory_source& memory;
        void* block;
        ~unused() {
            if (block != nullptr)
                memory.release(block, sizeof(maker), alignof(maker));
        }
    } guard{memory, block};
    auto* made = ::new (block) maker(std::forward<Args>(args)...);
    guard.block = nullptr;
    return made;
}

}  // namespace tactus::inline v0::detail
