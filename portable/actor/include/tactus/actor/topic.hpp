// SPDX-License-Identifier: Apache-2.0
//
// Topic: an actor that tells what it is told to everybody who subscribed (C-TYP-24).
//
//     const auto news = system.spawn<topic<headline>>("news");
//     news.tell(subscribe_to<headline>(reader));
//     news.tell(headline{"it rains"});
//
// Each subscriber gets a copy, in the order in which they subscribed. Ended ones are removed.
// Memory: one block of the world's for each; without it the subscriber is refused, with a line of
// the log. So is one of another system: its end would not be learned of.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include <tactus/actor/actor.hpp>

namespace tactus::inline v0 {
namespace detail {

/// Actors in the order in which they came, each once.
class ref_list {
public:
    explicit ref_list(memory_source& memory) noexcept : memory_(memory) {}
    ref_list(const ref_list&) = delete;
    ref_list& operator=(const ref_list&) = delete;
    ~ref_list();

    enum class added : std::uint8_t { done, known, no_memory };
    [[nodiscard]] added add(any_ref who) noexcept;
    bool remove(any_ref who) noexcept;
    template <class Visit>
    void for_each(Visit&& visit) const {
        for (const node* n = first_; n != nullptr; n = n->next)
            visit(n->who);
    }

private:
    struct node {
        node* next;
        any_ref who;
    };
    [[nodiscard]] node** find(any_ref who) noexcept;

    memory_source& memory_;
    node* first_ = nullptr;
};

}  // namespace detail

template <class M>
struct topic_change {
    enum class kind : std::uint8_t { subscribe, unsubscribe };
    kind what;
    actor_ref<M> who;
};
/// Again: nothing.
template <class M>
[[nodiscard]] topic_change<M> subscribe_to(std::type_identity_t<actor_ref<M>> who) noexcept {
    return {topic_change<M>::kind::subscribe, who};
}
template <class M>
[[nodiscard]] topic_change<M> unsubscribe_from(std::type_identity_t<actor_ref<M>> who) noexcept {
    return {topic_change<M>::kind::unsubscribe, who};
}

template <message M>
    requires std::copy_constructible<M>
class topic final : public actor<M, topic_change<M>> {
public:
    topic() : all_(this->context().world().memory()) {}

    void on(const M& m) {
        all_.for_each([&](any_ref who) { who.tell(m); });
    }
    void on(const topic_change<M>& m) {
        if (m.what == topic_change<M>::kind::unsubscribe) {
            if (all_.remove(m.who))
                this->context().unwatch(m.who);
            return;
        }
        if (!m.who)
            return;
        if (this->context().world().is_foreign(m.who.any().index())) {
            this->context().log().error("a topic takes no subscribers of another system");
            return;
        }
        switch (all_.add(m.who)) {
        case detail::ref_list::added::done:
            this->context().watch(m.who);
            break;
        case detail::ref_list::added::known:
            break;
        case detail::ref_list::added::no_memory:
            this->context().log().error("no memory for one more subscriber");
            break;
        }
    }
    void on(const terminated& m) { (void)all_.remove(m.who); }

private:
    detail::ref_list all_;
};

}  // namespace tactus::inline v0
