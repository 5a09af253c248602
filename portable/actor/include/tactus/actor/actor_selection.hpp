// SPDX-License-Identifier: Apache-2.0
//
// Actor selection: actors by a path, looked for whenever it is used (AC-7).
//
//     system.select("/user/worker-*").tell(stop_working{});
//     context().select("../sibling").tell(hello{});          // from here: up, and down again
//
//   /user/a, tactus://system/user/a   from the root
//   a/b                               from the anchor: of a context its actor, else the root
//   ..                                the parent; the root's is the root
//   *, ?                              within one name: any characters, any one character
//   $5.2                              one without a name, as its path says
//
// A reference names one actor; a selection whoever has the name now. Patterns find actors that have
// names; they look through the names of all actors. Who is found comes in the order of references.
//
// A value; valid as long as its world. Any thread.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

#include <tactus/actor/actor_ref.hpp>
#include <tactus/actor/actor_world.hpp>
#include <tactus/actor/signals.hpp>

namespace tactus::inline v0 {

class actor_selection {
public:
    /// What is longer selects nobody.
    static constexpr std::size_t path_size_max = port::cache_line < 8 ? 60 : 240;

    /// Selects nobody.
    actor_selection() = default;
    actor_selection(actor_world& world, mailbox_index anchor, std::string_view path) noexcept;

    /// Where it begins; names nothing when it selects nobody ever.
    [[nodiscard]] any_ref anchor() const noexcept { return any_ref(anchor_); }
    /// From there on.
    [[nodiscard]] std::string_view path() const noexcept { return {text_, size_}; }

    /// The first that it selects now; names nothing: nobody. See actor_context::resolve, which also
    /// waits for its answer.
    [[nodiscard]] any_ref resolve() const noexcept;
    /// It selects somebody now.
    explicit operator bool() const noexcept { return static_cast<bool>(resolve()); }

    /// Calls visit(any_ref) for each that it selects now.
    template <class Visit>
    void for_each(Visit&& visit) const {
        walk(&visit, [](void* to, mailbox_index who) {
            (*static_cast<std::remove_reference_t<Visit>*>(to))(any_ref(who));
            return true;
        });
    }

    /// To all that it selects; a dead letter when that is nobody.
    template <class M>
    void tell(M&& message) const {
        send(std::forward<M>(message), any_ref(detail::sender_here()));
    }
    /// As tell, from another sender: forwarding.
    template <class M>
    void tell(M&& message, any_ref sender) const {
        send(std::forward<M>(message), sender);
    }
    /// Each answers with actor_identity; when there is nobody, the runtime does.
    void identify(std::uint64_t id, actor_ref<actor_identity> reply_to) const {
        tell(tactus::identify{id, reply_to});
    }

    /// The same path from the same anchor, whoever that is.
    friend bool operator==(const actor_selection& a, const actor_selection& b) noexcept {
        return a.world_ == b.world_ && a.anchor_ == b.anchor_ && a.path() == b.path();
    }

private:
    using visitor = bool (*)(void* to, mailbox_index who);
    void walk(void* to, visitor visit) const;
    [[nodiscard]] bool walk_from(mailbox_index at, std::string_view rest, void* to,
                                 visitor visit) const;

    template <class M>
    void send(M&& message, any_ref sender) const {
        using type = std::remove_cvref_t<M>;
        static_assert(std::copy_constructible<type>,
                      "a selection may be many actors: what it is told can be copied");
        const type& each = message;
        any_ref last;
        for_each([&](any_ref who) {
            if (last)
                last.tell(each, sender);
            last = who;
        });
        if (last)
            last.tell(std::forward<M>(message), sender);
        else if (world_ != nullptr)
            world_->selected_nobody(std::forward<M>(message), sender.index());
    }

    actor_world* world_ = nullptr;
    mailbox_index anchor_;
    std::uint32_t size_ = 0;
    char text_[path_size_max];
};

}  // namespace tactus::inline v0
