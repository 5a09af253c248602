// SPDX-License-Identifier: Apache-2.0
//
// Owed answers: the futures of a system that have no value yet (AS-1); see ask_future.hpp.
//
// The actor that a reply goes to has no parent, so it does not end with the other actors, and its
// timer may have been cancelled by then. The list lets the end of the system answer every question
// that is still open.
//
// Invariants
//   O1  an entry is answered once: by the end of the system while it is listed, under the lock; or
//       by the caller whose take() returned true
//   O2  after close() nothing is listed
//
// Thread safety: any thread.
#pragma once

#include <mutex>

#include <tactus/base/intrusive_list.hpp>

namespace tactus::inline v0::detail {

class owed_answers {
public:
    class entry : public list_hook<> {  // linked under the lock of the list
    public:
        entry() = default;
        entry(const entry&) = delete;
        entry& operator=(const entry&) = delete;

    protected:
        virtual ~entry() = default;

    private:
        friend owed_answers;
        /// Gives the answer of a system that has ended. Called under the lock of the list, so it
        /// runs no code of the user's.
        virtual void system_ended() noexcept = 0;
    };

    owed_answers() = default;
    owed_answers(const owed_answers&) = delete;
    owed_answers& operator=(const owed_answers&) = delete;

    /// Lists an entry. False after close(): then it is the caller's to answer.
    ///
    /// Owes: take() before the entry is destroyed.
    [[nodiscard]] bool add(entry& e) noexcept {
        const std::lock_guard held(mutex_);
        if (is_closed_)
            return false;
        open_.push_back(e);
        return true;
    }
    /// Unlists an entry. True: it is the caller's to answer. False: it has its answer.
    [[nodiscard]] bool take(entry& e) noexcept {
        const std::lock_guard held(mutex_);
        if (!e.linked())
            return false;
        e.unlink();
        return true;
    }
    /// Answers all that are listed, and lists nothing from now on. May be called again.
    void close() noexcept {
        const std::lock_guard held(mutex_);
        is_closed_ = true;
        while (entry* e = open_.pop_front())
            e->system_ended();
    }

private:
    std::mutex mutex_;
    // Under the lock.
    intrusive_list<entry> open_;
    bool is_closed_ = false;
};

}  // namespace tactus::inline v0::detail
