// SPDX-License-Identifier: Apache-2.0
//
// Asio executor: actors on the application's own io_context, or any Boost.Asio executor (EX-2,
// EX-8).
//
//     boost::asio::io_context io;
//     runtime::asio_executor on(io);
//     auto there = all.add({.id = "io",
//                           .config = {.executor = executor_kind::foreign},
//                           .foreign = &on});
//
// A task is posted, and runs among the application's own handlers. A stopped context rejects: what
// is ready waits in its lanes, and runs when the context was restarted. What was posted before it
// stopped stays in its queue until then, or until it is withdrawn.
//
// Needs Boost.Asio (libboost-dev), so this header is not part of <tactus/tactus.hpp>.
//
// Thread safety: any thread. The context outlives this, this outlives the dispatcher that uses it.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include <tactus/dispatch/executor.hpp>

namespace tactus::inline v0::runtime {

class asio_executor final : public executor {
public:
    explicit asio_executor(boost::asio::io_context& on)
        : asio_executor(on.get_executor(), [&on] { return !on.stopped(); }) {}
    /// `accepts` says whether it takes something now; an exception says no.
    asio_executor(boost::asio::any_io_executor on, std::function<bool()> accepts)
        : on_(std::move(on)), accepts_(std::move(accepts)) {}
    ~asio_executor() = default;
    asio_executor(const asio_executor&) = delete;
    asio_executor& operator=(const asio_executor&) = delete;

    /// Rejects when the context is stopped, or memory is short.
    [[nodiscard]] bool submit(worker_task& t, const submit_hints&) noexcept override {
        std::shared_ptr<posted> waiting;  // handlers are copied by old versions of Asio
        try {
            if (!accepts_())
                return false;
            waiting = std::make_shared<posted>(pending_, t);
            boost::asio::post(on_, [waiting] { waiting->run(); });
            return true;
        } catch (...) {
            if (waiting != nullptr)
                waiting->forget();
            return false;
        }
    }
    void notify_rejected(worker_task&, unsigned) noexcept override {}
    [[nodiscard]] bool withdraw(worker_task& t) noexcept override { return pending_->take(t); }
    [[nodiscard]] const char* rejection_cause() const noexcept override {
        return "the io_context is stopped";
    }

private:
    /// Tasks in the context's queue: a few, one per worker.
    class pending {
    public:
        [[nodiscard]] std::uint64_t add(worker_task& t) {
            const std::lock_guard held(mutex_);
            waiting_.push_back({++last_, &t});
            return last_;
        }
        /// Null when it was taken before.
        [[nodiscard]] worker_task* take(std::uint64_t number) noexcept {
            const std::lock_guard held(mutex_);
            const auto at = std::ranges::find(waiting_, number, &entry::number);
            if (at == waiting_.end())
                return nullptr;
            worker_task* t = at->what;
            waiting_.erase(at);
            return t;
        }
        [[nodiscard]] bool take(worker_task& t) noexcept {
            const std::lock_guard held(mutex_);
            return std::erase_if(waiting_, [&](const entry& e) { return e.what == &t; }) != 0;
        }

    private:
        struct entry {
            std::uint64_t number;
            worker_task* what;
        };
        std::mutex mutex_;
        std::vector<entry> waiting_;
        std::uint64_t last_ = 0;
    };

    /// One place in the queue. Outlives the executor if the context keeps it: then it finds
    /// nothing.
    class posted {
    public:
        posted(std::shared_ptr<pending> in, worker_task& t)
            : in_(std::move(in)), number_(in_->add(t)) {}
        ~posted() {
            // Destroyed without a run, with the context.
            if (worker_task* t = in_->take(number_))
                t->dropped();
        }
        posted(const posted&) = delete;
        posted& operator=(const posted&) = delete;

        void forget() noexcept { (void)in_->take(number_); }
        void run() {
            if (worker_task* t = in_->take(number_))
                (void)t->run();  // what lent workers run has told of failures itself
        }

    private:
        std::shared_ptr<pending> in_;
        std::uint64_t number_;
    };

    boost::asio::any_io_executor on_;
    std::function<bool()> accepts_;
    std::shared_ptr<pending> pending_ = std::make_shared<pending>();
};

}  // namespace tactus::inline v0::runtime
