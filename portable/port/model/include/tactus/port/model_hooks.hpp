// SPDX-License-Identifier: Apache-2.0
//
// Model port: what the cells of <tactus/port/platform.hpp> call when they are used inside a check.
//
// A cell carries its value, so that it works as an ordinary variable outside of a check, and a
// handle, by which the checker finds what it knows of the cell in the execution that runs now. A
// handle of another execution means nothing; the cell is then met for the first time.
//
// Thread safety: one check at a time in a process, on one operating system thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <source_location>

namespace tactus::inline v0::port::model::detail {

using where = std::source_location;
using order = std::memory_order;

/// True while the body of a check or one of its threads runs.
extern constinit bool running;

struct handle {
    std::uint32_t execution = 0;
    std::uint32_t index = 0;
};

/// A cell as the checker sees it: where its value lies, how long it is, and its handle.
struct cell {
    void* value;
    std::uint32_t size;
    handle* known;
    bool is_pointer = false;
};

enum class change : std::uint8_t { exchange, add, subtract, set_bits, keep_bits };
enum class strength : std::uint8_t { weak, strong };
enum class cell_kind : std::uint8_t { atomic, plain };

// Atomics. Values travel as the bytes of the cell in the low end of 64 bits.
void born(const cell& c, cell_kind kind, where at) noexcept;
std::uint64_t load(const cell& c, order o, where at) noexcept;
void store(const cell& c, std::uint64_t value, order o, where at) noexcept;
std::uint64_t modify(const cell& c, change how, std::uint64_t operand, order o, where at) noexcept;
bool compare_exchange(const cell& c, std::uint64_t& seen, std::uint64_t wanted, order success,
                      order failure, strength how, where at) noexcept;

// Plain cells: the access is judged, the caller then does it.
void reads_plain(const cell& c, where at) noexcept;
void writes_plain(const cell& c, where at) noexcept;

// Blocking.
void lock(handle& mutex, where at) noexcept;
bool try_lock(handle& mutex, where at) noexcept;
void unlock(handle& mutex, where at) noexcept;
void wait(handle& condition, handle& mutex, where at) noexcept;
void notify(handle& condition, bool all, where at) noexcept;
bool wait_on(const cell& word, std::uint32_t expected, std::int64_t timeout_ns, where at) noexcept;
void wake_one(const cell& word, where at) noexcept;
void give_way(where at) noexcept;

// Threads. An instance is made in `fresh` memory, which is zero, the first time a tag is asked for.
struct instance {
    void* memory;
    bool fresh;
};
instance thread_instance(const void* tag, std::size_t size, std::size_t alignment) noexcept;
void thread_instance_made() noexcept;
unsigned start_thread(void (*run)(void*), void* with, where at) noexcept;
void join_thread(unsigned thread, where at) noexcept;

// Memory of one execution; `owed` memory must be given back before the execution ends.
enum class memory : std::uint8_t { owed, scratch };
void* allocate(std::size_t size, std::size_t alignment, memory kind, where at) noexcept;
void check_disposable(const void* object, where at) noexcept;
void dispose(void* object, where at) noexcept;

// Edges (MC-4).
enum class end : std::uint8_t { acquire, release, acq_rel, seq_cst };
order order_of(const char* edge_name, end which, where at) noexcept;

}  // namespace tactus::inline v0::port::model::detail
