// SPDX-License-Identifier: Apache-2.0
//
// Directors that do not search everything: random, PCT, and the replay of a schedule.
//
// PCT (Burckhardt et al., 2010): every thread has a random priority and the highest that can run
// does; at depth - 1 steps, drawn beforehand, the running thread falls below all others. How long
// an execution is, from which those steps are drawn, is taken from the longest one so far.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include <tactus/base/det_rng.hpp>

#include "director.hpp"

namespace tactus::inline v0::port::model::detail {

class random_director final : public director {
public:
    random_director(std::uint64_t seed, std::uint64_t runs) : random_(seed), left_(runs) {}

    void begin() override {}
    [[nodiscard]] unsigned next_thread(const moment& m) override;
    [[nodiscard]] unsigned choose(unsigned count) override;
    [[nodiscard]] bool advance() override { return --left_ > 0; }

private:
    det_rng random_;
    std::uint64_t left_;
};

class pct_director final : public director {
public:
    pct_director(std::uint64_t seed, std::uint64_t runs, unsigned depth)
        : random_(seed), left_(runs), changes_(depth > 0 ? depth - 1 : 0) {}

    void begin() override;
    [[nodiscard]] unsigned next_thread(const moment& m) override;
    [[nodiscard]] unsigned choose(unsigned count) override;
    [[nodiscard]] bool advance() override { return --left_ > 0; }

private:
    det_rng random_;
    std::uint64_t left_;
    std::vector<std::uint64_t> changes_;  // the steps at which the running thread falls
    std::uint64_t step_ = 0;
    std::uint64_t steps_max_ = 20;
    std::uint64_t lowest_ = 0;
    std::array<std::uint64_t, thread_count_max> priorities_{};  // of this execution
};

/// One execution by a schedule as `written_schedule` writes it.
class replay_director final : public director {
public:
    explicit replay_director(std::string_view schedule);

    void begin() override { position_ = 0; }
    [[nodiscard]] unsigned next_thread(const moment& m) override;
    [[nodiscard]] unsigned choose(unsigned count) override;
    [[nodiscard]] bool advance() override { return false; }
    [[nodiscard]] bool readable() const noexcept { return readable_; }

private:
    struct taken {
        bool is_choice;
        unsigned value;
    };
    std::vector<taken> decisions_;
    std::size_t position_ = 0;
    bool readable_ = true;
};

}  // namespace tactus::inline v0::port::model::detail
