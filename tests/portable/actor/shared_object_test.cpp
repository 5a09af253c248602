// SPDX-License-Identifier: Apache-2.0
//
// Goal: a message of another shared object is known by its name, when its descriptor is another
// copy (UP-5).
#include <tactus/actor/actor.hpp>

#include "world_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using tactus_test::journal;
using tactus_test::world_rig;

namespace {

struct add {
    int value;
};
struct other {
    int value;
};

/// What `int` asks for is given to it again as a message of another shared object would come.
class receiver : public actor<int, add> {
public:
    void on(const add& m) { journal().add(m.value); }
    void on(int which) {
        turn& t = context().in();
        envelope* e =
            which == 1 ? t.system().wrap(t.self(), add{7}) : t.system().wrap(t.self(), other{8});
        e->type.write(which == 1 ? &copy_of_add : &copy_of_other);
        const handled done = t.place().acts()->receive(t, t.place().user_state(), *e);
        journal().add(done.is_ok() ? 1 : 0);
        e->type.write(which == 1 ? &message_type_of<add> : &message_type_of<other>);
        t.system().dispose_kept(*e);
    }
    static constexpr message_type copy_of_add = message_type_of<add>;
    static constexpr message_type copy_of_other = message_type_of<other>;
};

}  // namespace

// UP-5: the copy is another object, and is the same message all the same; a stranger's is not.
TEST(shared_object, UP_5_descriptors_compare_by_name) {
    EXPECT_TRUE(&receiver::copy_of_add != &message_type_of<add>);
    EXPECT_TRUE(same_message(receiver::copy_of_add, message_type_of<add>));
    EXPECT_FALSE(same_message(message_type_of<other>, message_type_of<add>));
    world_rig rig;
    const auto r = rig.spawn<receiver>("r");
    r.tell(1);
    r.tell(2);
    rig.run();
    EXPECT_TRUE(journal().is({7, 1, 1}));
    EXPECT_EQ(rig.said.unhandled_count, 1u);
    rig.end();
    journal().clear();
}
