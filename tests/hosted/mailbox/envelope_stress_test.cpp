// SPDX-License-Identifier: Apache-2.0
//
// Goal: envelopes taken by one thread and given back by another are conserved, and their payloads
// are seen by the next one (MB-9, D1).
// Method: four threads in a ring, each with a cache of its own, each sending to the next; at the
// end all is flushed and counted. The reserve is used meanwhile (SQ-5).
#include <tactus/mailbox/envelope_pool.hpp>
#include <tactus/mailbox/inbox.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <set>
#include <thread>
#include <vector>

using tactus::envelope;
using tactus::envelope_cache;
using tactus::envelope_pool;

namespace {

constexpr unsigned threads = 4;
constexpr std::uint32_t capacity = 256;
constexpr std::uint32_t reserve = 8;
constexpr std::uint32_t each = 20'000;
alignas(64) std::array<std::byte, (capacity + reserve) * sizeof(envelope)> bytes;

class station {
public:
    explicit station(envelope_pool& pool) : cache_(pool) { box.open(); }

    tactus::inbox box;
    std::uint64_t sum = 0;
    std::uint32_t received = 0;

    void receive() {
        for (envelope* e = box.take_all(); e != nullptr;) {
            envelope* next = e->next.read();
            sum += *e->get_if<std::uint32_t>();
            ++received;
            cache_.dispose(*e);
            e = next;
        }
    }
    void send(station& to, std::uint32_t value) {
        envelope* e = cache_.take();
        while (e == nullptr) {
            receive();  // the others may wait for these
            std::this_thread::yield();
            e = cache_.take();
        }
        EXPECT_TRUE(e->emplace<std::uint32_t>(value, nullptr));
        EXPECT_NE(to.box.push(*e), tactus::pushed::closed);
    }
    void flush() { cache_.flush(); }

private:
    envelope_cache cache_;
};

}  // namespace

TEST(envelope_stress, D1_envelopes_given_on_another_thread_are_conserved) {
    tactus::fixed_memory memory(bytes);
    envelope_pool pool({.memory = &memory,
                        .capacity = capacity,
                        .reserve_for_system = reserve,
                        .magazine_size = 16});
    std::deque<station> stations;
    for (unsigned t = 0; t < threads; ++t)
        stations.emplace_back(pool);
    std::atomic<unsigned> running{threads};
    std::vector<std::thread> all;
    for (unsigned t = 0; t < threads; ++t) {
        all.emplace_back([&, t] {
            station& me = stations[t];
            station& next = stations[(t + 1) % threads];
            for (std::uint32_t i = 0; i < each; ++i) {
                me.send(next, i);
                if (i % 8 == 0)
                    me.receive();
                if (i % 64 == 0) {
                    envelope& system = pool.take_for_system();
                    EXPECT_TRUE(system.emplace<std::uint32_t>(i, nullptr, envelope::from_reserve));
                    pool.give_for_system(system);
                }
                if (i % 4'096 == 0)
                    me.flush();
            }
            running.fetch_sub(1, std::memory_order_relaxed);
            while (running.load(std::memory_order_relaxed) != 0) {
                me.receive();
                me.flush();  // what nobody uses here the others need
                std::this_thread::yield();
            }
        });
    }
    for (std::thread& t : all)
        t.join();
    for (station& s : stations) {
        s.receive();
        s.flush();
        EXPECT_EQ(s.received, each);
        EXPECT_EQ(s.sum, std::uint64_t{each} * (each - 1) / 2);
    }
    EXPECT_EQ(pool.reserve_count(), reserve);
    envelope_cache one(pool);
    std::set<const envelope*> found;
    while (const envelope* e = one.take())
        EXPECT_TRUE(found.insert(e).second);
    EXPECT_EQ(found.size(), capacity);
    for (std::uint32_t i = 0; i < reserve; ++i)
        EXPECT_TRUE(found.insert(&pool.take_for_system()).second);
}
