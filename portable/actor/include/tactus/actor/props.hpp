// SPDX-License-Identifier: Apache-2.0
//
// What an actor is made of: its constructor's arguments, kept so that it can be made again.
//
// Arguments are copied for each instance. What can only be moved is given to the first instance;
// such an actor cannot be restarted, and is stopped instead.
#pragma once

#include <concepts>
#include <cstddef>
#include <new>
#include <tuple>
#include <type_traits>
#include <utility>

#include <tactus/actor/actor_ref.hpp>
#include <tactus/actor/actor_type.hpp>
#include <tactus/base/memory_source.hpp>

namespace tactus::inline v0::detail {

/// What the compiler's first error names; see requirement. Every function that spawns asks for it
/// itself, so that the line that calls it is named next to the error.
template <class A, class... Args>
struct actor_has_no_public_constructor_for;
template <class A, class... Args>
struct constructor_arguments {
    static_assert(requirement<std::is_constructible_v<A, std::decay_t<Args>...>,
                              actor_has_no_public_constructor_for<A, std::decay_t<Args>...>>::met,
                  "the actor has no public constructor for the arguments it is spawned with, "
                  "which are copied and passed as values");
    static constexpr bool met = true;
};

/// In one block: the maker, and the instance behind it unless that fits into its slot.
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
    [[nodiscard]] void* instance() noexcept override {
        return reinterpret_cast<std::byte*>(this) + offset();
    }
    void end(memory_source& memory) noexcept override {
        this->~maker_of();
        memory.release(this, block_size(), block_alignment());
    }

    static constexpr bool copies = (std::copy_constructible<Args> && ...);
    // Functions, as the class is complete in them.
    [[nodiscard]] static constexpr std::size_t offset() noexcept {
        return (sizeof(maker_of) + alignof(A) - 1) / alignof(A) * alignof(A);
    }
    [[nodiscard]] static constexpr std::size_t block_size() noexcept {
        return fits_slot(sizeof(A), alignof(A)) ? sizeof(maker_of) : offset() + sizeof(A);
    }
    [[nodiscard]] static constexpr std::size_t block_alignment() noexcept {
        return fits_slot(sizeof(A), alignof(A)) || alignof(A) < alignof(maker_of)
                   ? alignof(maker_of)
                   : alignof(A);
    }

private:
    std::tuple<Args...> args_;
    bool used_ = false;
};

/// Null when there is no memory. What the arguments' copies throw is thrown.
template <class A, class... Args>
[[nodiscard]] actor_maker* make_maker(memory_source& memory, Args&&... args) {
    using maker = maker_of<A, std::decay_t<Args>...>;
    void* block = memory.allocate(maker::block_size(), maker::block_alignment());
    if (block == nullptr)
        return nullptr;
    struct unused {
        memory_source& memory;
        void* block;
        ~unused() {
            if (block != nullptr)
                memory.release(block, maker::block_size(), maker::block_alignment());
        }
    } guard{memory, block};
    auto* made = ::new (block) maker(std::forward<Args>(args)...);
    guard.block = nullptr;
    return made;
}

}  // namespace tactus::inline v0::detail
