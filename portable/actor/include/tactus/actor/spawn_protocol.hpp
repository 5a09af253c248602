// SPDX-License-Identifier: Apache-2.0
//
// Spawn protocol: an actor that spawns what it is told to, as its children (PK-TYP-19): for those
// outside who want actors below one that supervises them.
//
//     const auto nursery = system.spawn<spawn_protocol>("nursery");
//     auto tree = system.ask<actor_ref<water>>(
//         nursery, [&](auto me) { return spawn_order::of<plant>(system.world(), "oak", me); }, 1s);
//
// A name that a child has, or has not given back yet, gets a number: oak-1, oak-2. Without a name
// it has none. The reply names nothing when it could not be spawned. Orders are larger than an
// envelope (actor_scheduler::options::large_payloads).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include <tactus/actor/actor.hpp>

namespace tactus::inline v0 {

/// What is to be spawned: a class, its arguments, and who is told the reference.
class spawn_order {
public:
    /// Of a name; what is longer is cut.
    static constexpr std::size_t name_size_max = 64;

    /// Without memory for the arguments the order is one that cannot be met. `world` is that of
    /// who is told it.
    template <class A, class... Args>
    [[nodiscard]] static spawn_order of(actor_world& world, std::string_view name,
                                        actor_ref<detail::ref_of<A>> reply_to, Args&&... args) {
        return with<A>(world, name, {}, reply_to, std::forward<Args>(args)...);
    }
    template <class A, class... Args>
    [[nodiscard]] static spawn_order with(actor_world& world, std::string_view name,
                                          const spawn_options& how,
                                          actor_ref<detail::ref_of<A>> reply_to, Args&&... args) {
        spawn_order o(world.memory(), name, reply_to.any());
        o.reply_ = [](any_ref to, any_ref made) { to.tell(detail::ref_of<A>(made)); };
        auto wanted = detail::request_for<A>(world.memory(), {}, how, std::forward<Args>(args)...);
        if (wanted)
            o.wanted_ = *wanted;
        return o;
    }
    spawn_order(spawn_order&& other) noexcept;
    spawn_order& operator=(spawn_order&&) = delete;
    ~spawn_order();

private:
    friend class spawn_protocol;
    spawn_order(memory_source& memory, std::string_view name, any_ref reply_to) noexcept;

    memory_source* memory_;
    detail::kept_request wanted_;  // without its name; no type: it cannot be met
    any_ref reply_to_;
    void (*reply_)(any_ref to, any_ref made) = nullptr;
    std::uint32_t name_size_ = 0;
    char name_[name_size_max];
};

class spawn_protocol final : public actor<spawn_order> {
public:
    void on(spawn_order&& message);
};

}  // namespace tactus::inline v0
