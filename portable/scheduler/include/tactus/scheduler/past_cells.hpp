// SPDX-License-Identifier: Apache-2.0
//
// Past cells: what must be known of cells whose memory was given back.
//
// Their words are gone, but not the handles of their jobs. A cell that has no memory reads as
// zeros: of no generation, so of nobody. One that is made again begins beyond the highest
// generation that any of them had, and so far beyond that its history says nothing of old ones.
// The first few keep their memory, and so their words; they are those that are used most.
//
// A device gives back nothing, and knows nothing.
//
// Thread safety: none; the holder of the command lock.
#pragma once

#include <algorithm>
#include <cstdint>

#include <tactus/scheduler/job_word.hpp>
#include <tactus/time/instant.hpp>

namespace tactus::inline v0::detail {

template <bool GivesBack>
class past_cells {
public:
    /// They are to be given back then, if none is in use.
    [[nodiscard]] instant planned() const noexcept { return planned_; }
    void plan(instant at) noexcept {
        planned_ = at;
        is_owed_ = false;
    }
    /// Some were in use then: it is to be planned again when none is.
    [[nodiscard]] bool is_owed() const noexcept { return is_owed_; }
    void owe() noexcept { is_owed_ = true; }

    /// A use of a cell that does not keep its memory is over.
    void note(job_word last) noexcept { last_use_ = std::max(last_use_, last.generation()); }
    /// The region keeps its memory, or generations are used up: nothing is given back any more.
    void stay() noexcept { stays_ = true; }
    [[nodiscard]] bool can_forget() const noexcept {
        return !stays_ && job_word::can_be_made_again(last_use_);
    }
    /// All cells were forgotten: there were so many.
    void forget(std::uint32_t made) noexcept {
        made_ = std::max(made_, made);
        first_ = job_word::made_again(last_use_);
    }
    /// It was a cell before.
    [[nodiscard]] bool had(std::uint32_t index) const noexcept { return index < made_; }
    [[nodiscard]] job_word first_word() const noexcept { return first_; }

private:
    instant planned_ = instant::never();
    job_word first_;
    std::uint32_t made_ = 0;
    std::uint32_t last_use_ = 0;
    bool stays_ = false;
    bool is_owed_ = false;
};

template <>
class past_cells<false> {
public:
    [[nodiscard]] static constexpr instant planned() noexcept { return instant::never(); }
    static constexpr void plan(instant) noexcept {}
    [[nodiscard]] static constexpr bool is_owed() noexcept { return false; }
    static constexpr void owe() noexcept {}
    static constexpr void note(job_word) noexcept {}
    static constexpr void stay() noexcept {}
    [[nodiscard]] static constexpr bool can_forget() noexcept { return false; }
    static constexpr void forget(std::uint32_t) noexcept {}
    [[nodiscard]] static constexpr bool had(std::uint32_t) noexcept { return false; }
    [[nodiscard]] static constexpr job_word first_word() noexcept { return {}; }
};

}  // namespace tactus::inline v0::detail
