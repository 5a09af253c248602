// SPDX-License-Identifier: Apache-2.0
//
// Random streams (DT-4): from one seed, for each worker and each purpose a stream of its own.
//
// What draws for one purpose must not move what is drawn for another: a fault injected, or a number
// that user code asks for, would otherwise change the schedule. The seed of a stream is SplitMix64
// of the common seed at a position made of the worker's number and the purpose, so that neighbours
// have nothing in common although xorshift itself mixes slowly.
//
// Thread safety: none; a worker's streams are its own.
#pragma once

#include <cstddef>
#include <cstdint>

#include <tactus/base/det_rng.hpp>

namespace tactus::inline v0 {

enum class random_stream : std::uint8_t {
    scheduling,  // where stealing starts; in parity mode every tie-break
    faults,      // what a simulation breaks, and when
    user,        // what handlers ask for
    jitter,      // delays that are spread on purpose
};
inline constexpr std::size_t random_stream_count = 4;

/// SplitMix64's output number `position` (from 0) for a seed.
[[nodiscard]] constexpr std::uint64_t split_mix(std::uint64_t seed,
                                                std::uint64_t position) noexcept {
    std::uint64_t z = seed + (position + 1) * 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

/// The seed of one stream. Positions of two workers, or of two purposes, are never the same.
[[nodiscard]] constexpr std::uint64_t stream_seed(
    std::uint64_t seed, std::uint32_t worker,
    random_stream which = random_stream::scheduling) noexcept {
    return split_mix(seed, (static_cast<std::uint64_t>(which) << 32) | worker);
}

class random_streams {
public:
    /// The streams of one worker.
    constexpr random_streams(std::uint64_t seed, std::uint32_t worker) noexcept
        : streams_{det_rng(stream_seed(seed, worker, random_stream::scheduling)),
                   det_rng(stream_seed(seed, worker, random_stream::faults)),
                   det_rng(stream_seed(seed, worker, random_stream::user)),
                   det_rng(stream_seed(seed, worker, random_stream::jitter))} {}

    [[nodiscard]] constexpr det_rng& operator[](random_stream which) noexcept {
        return streams_[static_cast<std::size_t>(which)];
    }
    [[nodiscard]] constexpr const det_rng& operator[](random_stream which) const noexcept {
        return streams_[static_cast<std::size_t>(which)];
    }

private:
    det_rng streams_[random_stream_count];  // NOLINT: what it begins with is not constant
};

}  // namespace tactus::inline v0
