// SPDX-License-Identifier: Apache-2.0
//
// Goal: where instances are: in the slot when they fit, else in one block with what makes them
// (PF-7); whichever it is, they are constructed, restarted and destroyed in place.
#include <tactus/actor/actor.hpp>

#include "world_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using tactus_test::journal;
using tactus_test::world_rig;

namespace {

template <std::size_t Size, std::size_t Alignment>
class alignas(Alignment) shaped : public actor<int> {
public:
    explicit shaped(int first = 5) noexcept : first_(first) {
        journal().add(reinterpret_cast<std::uintptr_t>(this) % Alignment == 0 ? 1 : -1);
    }
    shaped(const shaped&) = delete;
    shaped& operator=(const shaped&) = delete;
    ~shaped() { journal().add(9); }
    failure on(int v) {
        journal().add(first_ + v);
        return failure("as asked");
    }

private:
    int first_;
    [[maybe_unused]] std::byte rest_[Size - sizeof(int)] = {};
};
using small = shaped<8, 4>;
using large = shaped<40, 8>;
using wide = shaped<64, 32>;
static_assert(fits_slot(sizeof(small), alignof(small)));
static_assert(!fits_slot(sizeof(large), alignof(large)));
static_assert(!fits_slot(sizeof(wide), alignof(wide)));

/// Lives, fails once, and is ended; how many blocks it had while it had done nothing.
template <class A, class... Args>
std::size_t live(Args... args) {
    journal().clear();
    world_rig rig;
    const std::size_t before = rig.memory.live_blocks;
    const auto ref = rig.spawn<A>("", args...);
    rig.run();
    const std::size_t blocks = rig.memory.live_blocks - before;
    ref.tell(2);
    rig.run();
    rig.end();
    return blocks;
}

}  // namespace

TEST(actor_place, PF_7_small_ones_made_of_nothing_take_no_memory) {
    EXPECT_EQ(live<small>(), 0u);
    EXPECT_TRUE(journal().is({1, 7, 9, 1, 9}));
}
TEST(actor_place, small_ones_with_an_argument_take_a_block_for_it) {
    EXPECT_EQ(live<small>(6), 1u);
    EXPECT_TRUE(journal().is({1, 8, 9, 1, 9}));
}
TEST(actor_place, larger_ones_take_one_block) {
    EXPECT_EQ(live<large>(), 1u);
    EXPECT_TRUE(journal().is({1, 7, 9, 1, 9}));
}
TEST(actor_place, larger_ones_share_it_with_their_arguments) {
    EXPECT_EQ(live<large>(6), 1u);
    EXPECT_TRUE(journal().is({1, 8, 9, 1, 9}));
}
TEST(actor_place, instances_are_aligned_as_they_ask) {
    EXPECT_EQ(live<wide>(), 1u);
    EXPECT_TRUE(journal().is({1, 7, 9, 1, 9}));
    EXPECT_EQ(live<wide>(6), 1u);
    EXPECT_TRUE(journal().is({1, 8, 9, 1, 9}));
}
