// SPDX-License-Identifier: Apache-2.0
//
// Inbox: what an actor was sent and has not handled, for a test to look at and take: of a child, of
// the actor itself, or of one that is nothing but an inbox (PK-TST-5).
//
//     auto inbox = kit.create_inbox<pong>();
//     kit.run(ping{inbox.ref()});
//     inbox.expect(pong{1});
//
// Nothing waits here: what was not sent yet will not come.
#pragma once

#include <concepts>
#include <cstddef>
#include <memory>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

#include <tactus/test_kit/bench.hpp>
#include <tactus/test_kit/describe.hpp>

namespace tactus::inline v0::test {

template <class... Ms>
class inbox {
public:
    inbox(std::shared_ptr<bench> in, gate& of) : in_(std::move(in)), of_(&of) {}

    [[nodiscard]] actor_ref<Ms...> ref() const noexcept { return actor_ref<Ms...>(of_->who()); }
    [[nodiscard]] bool has_messages() const {
        in_->run();
        return !of_->inbox.empty();
    }
    [[nodiscard]] std::size_t message_count() const {
        in_->run();
        return of_->inbox.size();
    }
    /// The oldest, which is a T.
    template <class T>
    T receive(std::source_location where = std::source_location::current()) {
        static_assert(tactus::detail::same_count<T, Ms...> == 1,
                      "the actor does not take this message");
        return take<T>("a message of type " + std::string(type_name<T>()), where);
    }
    /// The oldest, which equals `value`.
    template <class T>
        requires(tactus::detail::same_count<T, Ms...> == 1 && std::equality_comparable<T>)
    void expect(const T& value, std::source_location where = std::source_location::current()) {
        const T found = take<T>(describe(value), where);
        if (!(found == value))
            fail("expected " + describe(value) + ", found " + describe(found), where);
    }
    /// All, which are Ts.
    template <class T>
    std::vector<T> receive_all(std::source_location where = std::source_location::current()) {
        std::vector<T> all;
        while (has_messages())
            all.push_back(receive<T>(where));
        return all;
    }
    void expect_empty(std::source_location where = std::source_location::current()) const {
        if (has_messages())
            fail("expected no message, found " + std::to_string(of_->inbox.size()) +
                     ", the first of type " + std::string(of_->inbox.front()->type.read()->name),
                 where);
    }
    /// Of what was taken last.
    [[nodiscard]] any_ref last_sender() const noexcept { return last_sender_; }

private:
    template <class T>
    T take(const std::string& expected, const std::source_location& where) {
        if (!has_messages())
            fail("expected " + expected + ", but the inbox is empty", where);
        envelope& e = *of_->inbox.front();
        T* found = e.get_if<T>();
        if (found == nullptr)
            fail("expected " + expected + ", found a message of type " +
                     std::string(e.type.read()->name),
                 where);
        T value = std::move(*found);
        last_sender_ = any_ref(e.sender.read());
        of_->inbox.pop_front();
        in_->dispose(e);
        return value;
    }

    std::shared_ptr<bench> in_;
    gate* of_;
    any_ref last_sender_;
};

}  // namespace tactus::inline v0::test
