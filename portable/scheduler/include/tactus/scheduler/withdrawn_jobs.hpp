// SPDX-License-Identifier: Apache-2.0
//
// Withdrawn jobs: the last few that were cancelled, and are not out of the wheel yet.
//
// To take a job out means to write to its node and to the two beside it. With a million timers all
// three are in no cache, and the nodes beside it are known only when its own has arrived: one wait
// for memory after the other, at every cancel. So a cancelled job stays here while as many others
// are cancelled as there are places: when it comes its node is asked for, half way its neighbours
// are, and when its place is needed for another it goes without waiting.
//
// Where there is no cache there is nothing to wait for, and no place.
//
// Thread safety: none; the holder of the command lock.
#pragma once

#include <cstdint>
#include <utility>

#include <tactus/scheduler/job.hpp>

namespace tactus::inline v0::detail {

template <std::uint32_t Places>
class withdrawn_jobs {
    static_assert((Places & (Places - 1)) == 0, "a power of two");

public:
    [[nodiscard]] std::uint32_t count() const noexcept { return count_; }

    /// Keeps a job; the one that was there for longest has to go, or null.
    [[nodiscard]] job* push(job& j) noexcept {
        job* const oldest = std::exchange(jobs_[oldest_], &j);
        oldest_ = (oldest_ + 1) % Places;
        if (oldest == nullptr) [[unlikely]]
            ++count_;
        return oldest;
    }
    /// Who has been there for half of its time, or null.
    [[nodiscard]] const job* halfway() const noexcept {
        return jobs_[(oldest_ + Places / 2) % Places];
    }
    /// Calls end(job&) for each, oldest first, and keeps none.
    template <class End>
    void clear(End&& end) noexcept {
        for (std::uint32_t i = 0; i < Places; ++i) {
            if (job* const j = std::exchange(jobs_[(oldest_ + i) % Places], nullptr))
                end(*j);
        }
        count_ = 0;
    }

private:
    job* jobs_[Places] = {};
    std::uint32_t oldest_ = 0;
    std::uint32_t count_ = 0;
};

template <>
class withdrawn_jobs<0> {
public:
    [[nodiscard]] static constexpr std::uint32_t count() noexcept { return 0; }
    [[nodiscard]] static constexpr job* push(job&) noexcept { return nullptr; }
    [[nodiscard]] static constexpr const job* halfway() noexcept { return nullptr; }
    template <class End>
    static void clear(End&&) noexcept {}
};

}  // namespace tactus::inline v0::detail
