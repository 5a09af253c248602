// SPDX-License-Identifier: Apache-2.0
//
// Goal: a dump by message is what a call writes, and says so when there is no memory for it (OH-5,
// OH-6).
#include <tactus/actor/dump_request.hpp>

#include <tactus/dispatch/text_buffer.hpp>

#include "device_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using tactus_test::device_rig;

namespace {

struct kept {
    text_buffer<1'600> text;
    std::size_t needed = 0;
    std::uint32_t count = 0;
    bool cut = false;
    dump_what what = dump_what::system;
    dump_format format = dump_format::text;
};
kept& last() {
    static kept one;
    return one;
}

class reader : public actor<dump_reply> {
public:
    void on(dump_reply&& r) {
        kept& k = last();
        ++k.count;
        k.text.clear();
        k.text.add(r.text());
        k.needed = r.needed();
        k.cut = r.is_cut();
        k.what = r.what();
        k.format = r.format();
    }
};
bool says(std::string_view part) {
    return last().text.view().find(part) != std::string_view::npos;
}

}  // namespace

// OH-5
TEST(dump_request, is_answered_with_what_a_call_writes) {
    last().count = 0;
    device_rig rig;
    const auto who = rig.spawn<reader>("who");
    rig.system.run();
    for (const dump_format format : {dump_format::text, dump_format::json}) {
        rig.system.world().system_guardian().tell(dump_request{.format = format, .reply_to = who});
        rig.system.run();
        EXPECT_FALSE(last().cut);
        EXPECT_EQ(last().needed, last().text.view().size());
        EXPECT_TRUE(last().format == format);
        EXPECT_TRUE(says("tactus://test/user/who"));
        EXPECT_TRUE(says("tactus://test/system"));
    }
    EXPECT_TRUE(says("\"actor_count\":4}"));
    EXPECT_EQ(last().count, 2u);
}

// OH-5: without the actors; also found by its path.
TEST(dump_request, of_dispatchers_alone) {
    last().count = 0;
    device_rig rig;
    const auto who = rig.spawn<reader>("who");
    rig.system.run();
    const std::size_t before = rig.system.memory().used();
    rig.system.select("/system").tell(
        dump_request{.what = dump_what::dispatchers, .reply_to = who});
    rig.system.run();
    EXPECT_EQ(last().count, 1u);
    EXPECT_TRUE(last().what == dump_what::dispatchers);
    EXPECT_TRUE(says("dispatcher 0: queued"));
    EXPECT_FALSE(says("/user/who"));
    EXPECT_TRUE(says("and 4 more actors"));
    // The text is gone with the reply.
    EXPECT_EQ(rig.system.memory().used(), before);
}

// OH-5: where there is no memory, the reply says how much it would have taken.
TEST(dump_request, without_memory_says_what_it_needs) {
    last().count = 0;
    device_rig rig;
    const auto who = rig.spawn<reader>("who");
    rig.system.run();
    arena& memory = rig.system.memory();
    void* taken[64];
    std::size_t sizes[64];
    std::size_t count = 0;
    // All but a few small gaps.
    for (std::size_t size = memory.size(); size >= 64; size /= 2) {
        void* block = nullptr;
        while (count < 64 && (block = memory.allocate(size, 1)) != nullptr) {
            taken[count] = block;
            sizes[count++] = size;
        }
    }
    rig.system.world().system_guardian().tell(dump_request{.reply_to = who});
    rig.system.run();
    EXPECT_EQ(last().count, 1u);
    EXPECT_TRUE(last().cut);
    EXPECT_GT(last().needed, 100u);
    EXPECT_TRUE(last().text.view().empty());
    while (count != 0) {
        --count;
        memory.release(taken[count], sizes[count], 1);
    }
}
