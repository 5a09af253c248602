// SPDX-License-Identifier: Apache-2.0
//
// Runs a program on the wheel under test and on its oracle side by side and stops at the first
// difference.
//
// After every operation: the result and its error with both numbers, size, overflow size, current
// tick, sequence, next deadline, whether the named handle is pending, and that no slot is marked
// occupied that should not be. During an advance each fired timer (payload, deadline, handle) is
// compared at once, before the sink acts on both.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "naive_wheel.hpp"
#include "wheel_fixture.hpp"
#include "wheel_program.hpp"

namespace tactus_test {

/// Memory that really grows and shrinks, over a fixed array; what is given back is spoilt (TW-11).
class breathing_memory final : public tactus::memory_region {
public:
    explicit breathing_memory(std::span<std::byte> bytes) noexcept {
        data_ = bytes.data();
        size_max_ = bytes.size();
    }
    [[nodiscard]] bool resize(std::size_t bytes) noexcept override {
        if (bytes > size_max_)
            return false;
        for (std::size_t i = bytes; i < size_; ++i)
            data_[i] = std::byte{0x5b};
        size_ = bytes;
        return true;
    }
};

/// `Handles`: how many of the newest registrations can be named. Large ones belong in static
/// storage.
template <std::size_t Capacity, std::size_t Handles>
class wheel_duel {
public:
    static constexpr std::size_t capacity = Capacity;

    void begin(const wheel_config& config) noexcept {
        config_ = config;
        box_.clear();
        static_cast<void>(nodes_.resize(0));
        static_cast<void>(overflow_.resize(0));
        tactus::timer_wheel_options options;
        options.nodes = &nodes_;
        options.overflow = &overflow_;
        options.resolution = tactus::duration::from_ns(config.resolution);
        options.start = at_ns(config.start);
        options.timers_max = config.timers_max;
        options.overflow_max = config.overflow_max;
        options.max_wheel_duration = tactus::duration::from_ns(config.max_wheel);
        options.max_timer_duration = tactus::duration::from_ns(config.max_timer);
        options.coalescing = {tactus::duration::from_ns(config.window), config.group_min};
        options.first_sequence = config.first_sequence;
        options.retained = config.retained;
        options.generation_count = config.generation_count;
        options.tag = 1;
        wheel_ = &box_.make(options);
        oracle_.reset(options);
        clock_ = options.start;
        issued_ = 0;
        queued_ = 0;
        steps_ = 0;
        fired_ = 0;
        digest_ = 0;
        difference_ = nullptr;
    }

    /// False from the first difference on.
    bool step(const wheel_op& op) {
        if (difference_ != nullptr)
            return false;
        ++steps_;
        if (op.in_sink) {
            if (queued_ < sink_ops_.size())
                sink_ops_[queued_++] = op;
            return true;
        }
        switch (op.kind) {
        case op_kind::advance:
            advance(op);
            break;
        case op_kind::wait:
            clock_ = clock_ + tactus::duration::from_ns(op.ns < 0 ? 0 : op.ns);
            break;
        default:
            act(op);
            break;
        }
        if (config_.watch_closely || op.kind == op_kind::next_deadline)
            compare_next_deadline();
        compare_state();
        return difference_ == nullptr;
    }

    /// What differed first, or null.
    [[nodiscard]] const char* difference() const noexcept { return difference_; }
    [[nodiscard]] std::uint64_t expected() const noexcept { return expected_; }
    [[nodiscard]] std::uint64_t actual() const noexcept { return actual_; }
    [[nodiscard]] std::uint64_t steps() const noexcept { return steps_; }
    [[nodiscard]] std::uint64_t fired() const noexcept { return fired_; }
    /// Of all that fired, in order, and between which operations.
    [[nodiscard]] std::uint64_t digest() const noexcept { return digest_; }

private:
    using oracle = naive_wheel<Capacity>;

    void expect(const char* what, std::uint64_t wanted, std::uint64_t got) noexcept {
        if (wanted == got || difference_ != nullptr)
            return;
        difference_ = what;
        expected_ = wanted;
        actual_ = got;
    }

    template <class Wanted, class Got>
    void expect_same_result(const Wanted& wanted, const Got& got, std::int64_t unknown) noexcept {
        expect("accepted", wanted.has_value(), got.has_value());
        if (difference_ != nullptr || wanted.has_value())
            return;
        tactus::timer_error error = wanted.error();
        if (error.code == tactus::timer_errc::unknown_timer)
            error.value = unknown;
        expect("error code", static_cast<std::uint64_t>(error.code),
               static_cast<std::uint64_t>(got.error().code));
        expect("error value", static_cast<std::uint64_t>(error.value),
               static_cast<std::uint64_t>(got.error().value));
        expect("error limit", static_cast<std::uint64_t>(error.limit),
               static_cast<std::uint64_t>(got.error().limit));
    }

    [[nodiscard]] static std::uint64_t payload_of(std::uint64_t id) noexcept {
        return (id + 1) * 0x9e37'79b9'7f4a'7c15;
    }
    [[nodiscard]] tactus::timer_handle& handle_of(std::uint64_t id) noexcept {
        return handles_[static_cast<std::size_t>(id % Handles)];
    }
    [[nodiscard]] bool known(std::uint64_t id) const noexcept {
        return id < issued_ && issued_ - id <= Handles;
    }
    [[nodiscard]] std::optional<std::uint64_t> named(const wheel_op& op) const noexcept {
        std::uint64_t id = 0;
        if (op.by == naming::pending) {
            if (oracle_.size() == 0)
                return std::nullopt;
            id = oracle_.by_rank(op.which % oracle_.size()).id;
        } else {
            if (issued_ == 0)
                return std::nullopt;
            const std::uint64_t nameable = issued_ < Handles ? issued_ : Handles;
            id = issued_ - 1 - op.which % nameable;
        }
        return known(id) ? std::optional(id) : std::nullopt;
    }

    // An operation on the wheel itself, from outside or from a sink.
    void act(const wheel_op& op) {
        const tactus::instant registered = clock_ - tactus::duration::from_ns(op.lag);
        const tactus::duration delay = tactus::duration::from_ns(op.ns);
        if (op.kind == op_kind::insert) {
            oracle_.limit_capacity(config_.timers_max - wheel_->retired_count());
            const auto wanted = oracle_.insert(registered, delay, payload_of(issued_), issued_);
            const auto got = wheel_->insert(registered, delay, payload_of(issued_));
            expect_same_result(wanted, got, 0);
            if (difference_ == nullptr && got)
                handle_of(issued_++) = *got;
            return;
        }
        if (op.kind == op_kind::next_deadline) {
            // From a sink too: asking in the middle must leave nothing stale behind. What a group
            // that is being fired would answer, the oracle does not know.
            if (config_.window == 0)
                compare_next_deadline();
            else
                (void)wheel_->next_deadline();
            return;
        }
        if (op.kind != op_kind::cancel && op.kind != op_kind::reschedule)
            return;
        const auto id = named(op);
        if (!id)
            return;
        const tactus::timer_handle handle = handle_of(*id);
        expect("pending before", oracle_.pending(*id), wheel_->pending(handle));
        if (op.kind == op_kind::cancel)
            expect("cancelled", oracle_.cancel(*id), wheel_->cancel(handle));
        else
            expect_same_result(oracle_.reschedule(*id, registered, delay),
                               wheel_->reschedule(handle, registered, delay), handle.index());
        expect("pending after", oracle_.pending(*id), wheel_->pending(handle));
    }

    void advance(const wheel_op& op) {
        const tactus::instant before = clock_;
        const tactus::instant target = clock_ + tactus::duration::from_ns(op.ns);
        if (op.ns > 0)
            clock_ = target;
        if (config_.split && op.ns > 0)
            advance_in_pieces(before, target);
        advance_to(target);
        queued_ = 0;
        mix(0);
    }

    // To anywhere between, one tick on, or just before, at or after where something fires.
    void advance_in_pieces(tactus::instant at, tactus::instant target) {
        tactus::det_rng rng = entropy_of(at.ns() ^ target.ns());
        for (std::uint64_t pieces = rng.below(8); pieces > 0; --pieces) {
            const auto deadline = oracle_.next_deadline();
            const std::uint64_t next_ns = tactus::saturating_mul(
                deadline.value_or(0), static_cast<std::uint64_t>(config_.resolution));
            std::uint64_t to = next_ns;
            switch (rng.below(5)) {
            case 0:
                to = at.ns() + rng.below(target.ns() - at.ns());
                break;
            case 1:
                to = (at + tactus::duration::from_ns(config_.resolution)).ns();
                break;
            case 2:
                to = next_ns - (next_ns > 0 ? 1 : 0);
                break;
            case 3:
                to = at.ns() + (rng.below(target.ns() - at.ns()) >> rng.below(40));
                break;
            default:
                break;
            }
            if (to < at.ns() || to >= target.ns())
                continue;
            at = at_ns(to);
            advance_to(at);
        }
    }

    void advance_to(tactus::instant target) {
        const auto wanted = oracle_.begin_advance(target);
        std::size_t count = 0;
        std::size_t acted = 0;
        const auto got = wheel_->advance(target, [&](const tactus::expired_timer& expired) {
            ++count;
            ++fired_;
            mix(expired.payload);
            mix(expired.deadline);
            if (!wanted)
                expect("fired when time went back", 0, 1);
            if (difference_ != nullptr)
                return;
            compare_fired(oracle_.next_expired(), expired);
            if (acted < queued_)
                act(sink_ops_[acted++]);
            expect("size in sink", oracle_.size(), wheel_->size());
        });
        expect_same_result(wanted, got, 0);
        if (!wanted || difference_ != nullptr)
            return;
        expect("something more fires", oracle_.next_expired().has_value(), 0);
        expect("count of the advance", count, *got);
        oracle_.end_advance();
    }

    void compare_fired(const std::optional<typename oracle::entry>& wanted,
                       const tactus::expired_timer& expired) noexcept {
        expect("something fires", wanted.has_value(), 1);
        if (difference_ != nullptr)
            return;
        expect("fired payload", wanted->payload, expired.payload);
        expect("fired deadline", wanted->deadline, expired.deadline);
        if (known(wanted->id))
            expect("fired handle", 1, handle_of(wanted->id) == expired.handle);
        expect("fired is not pending", 0, wheel_->pending(expired.handle));
    }

    void compare_next_deadline() noexcept {
        const auto wanted = oracle_.next_deadline();
        const auto got = wheel_->next_deadline();
        expect("has a next deadline", wanted.has_value(), got.has_value());
        expect("next deadline", wanted.value_or(0), got.value_or(0));
    }

    void compare_state() noexcept {
        expect("size", oracle_.size(), wheel_->size());
        expect("overflow size", oracle_.overflow_size(), wheel_->overflow_size());
        expect("current tick", oracle_.now(), wheel_->now());
        expect("sequence", oracle_.sequence(), wheel_->sequence());
        // With few generations the wheel stops giving memory back to spare them.
        if (wheel_->size() == 0 && config_.generation_count == 0)
            expect("memory kept when empty", 1, wheel_->usable_count() <= config_.retained);
        if (wheel_->size() == wheel_->overflow_size())
            for (std::size_t level = 0; level < 4; ++level)
                expect("slots are empty", 1, wheel_->occupied(level).empty());
        if (oracle_.size() <= 64 || steps_ % 64 == 0)
            compare_slots();
    }

    // TW-1: exactly the slots that deadlines and the current tick ask for.
    void compare_slots() noexcept {
        tactus::bitmap<256> wanted[4];
        oracle_.mark_occupied(wanted);
        for (std::size_t level = 0; level < 4; ++level)
            for (std::size_t slot = 0;; ++slot) {
                const std::size_t expected_slot = wanted[level].first_from(slot);
                slot = wheel_->occupied(level).first_from(slot);
                expect("occupied slot", expected_slot, slot);
                if (slot == 256 || difference_ != nullptr)
                    break;
            }
    }

    void mix(std::uint64_t n) noexcept {
        digest_ = (digest_ ^ n) * 0x9e37'79b9'7f4a'7c15;
        digest_ ^= digest_ >> 29;
    }

    alignas(16) std::array<std::byte, test_wheel::node_bytes(Capacity)> node_bytes_{};
    alignas(16) std::array<std::byte, test_wheel::overflow_bytes(Capacity)> overflow_bytes_{};
    breathing_memory nodes_{node_bytes_};
    breathing_memory overflow_{overflow_bytes_};
    wheel_box box_;
    test_wheel* wheel_ = nullptr;  // in box_
    oracle oracle_;
    wheel_config config_;
    tactus::instant clock_;
    std::array<tactus::timer_handle, Handles> handles_{};
    std::uint64_t issued_ = 0;
    std::array<wheel_op, 8> sink_ops_{};
    std::size_t queued_ = 0;
    std::uint64_t steps_ = 0;
    std::uint64_t fired_ = 0;
    std::uint64_t digest_ = 0;
    const char* difference_ = nullptr;
    std::uint64_t expected_ = 0;
    std::uint64_t actual_ = 0;
};

/// Hands out the operations of a list.
class written_source {
public:
    written_source(const wheel_config& config, std::span<const wheel_op> ops) noexcept
        : config_(config), ops_(ops) {}
    [[nodiscard]] const wheel_config& config() const noexcept { return config_; }
    [[nodiscard]] wheel_op next() noexcept { return ops_[at_++]; }

private:
    wheel_config config_;
    std::span<const wheel_op> ops_;
    std::size_t at_ = 0;
};

/// Makes up the operations of a seed, without keeping them.
class seeded_source {
public:
    seeded_source(std::uint64_t seed, std::size_t timers_max, sink_use sinks)
        : entropy_(entropy_of(seed)),
          generator_(entropy_, static_cast<std::uint32_t>(timers_max), sinks) {}
    seeded_source(const seeded_source&) = delete;
    seeded_source& operator=(const seeded_source&) = delete;
    [[nodiscard]] const wheel_config& config() const noexcept { return generator_.config(); }
    [[nodiscard]] wheel_op next() { return generator_.next(); }

private:
    tactus::det_rng entropy_;
    program_generator<tactus::det_rng> generator_;
};

/// True when wheel and oracle agree all the way through `length` operations of `source`.
template <class Duel, class Source>
bool agree(Duel& duel, const wheel_config& config, Source&& source, std::size_t length) {
    duel.begin(config);
    for (std::size_t i = 0; i < length; ++i)
        if (!duel.step(source.next()))
            return false;
    return true;
}

}  // namespace tactus_test
