// SPDX-License-Identifier: Apache-2.0
//
// Middleware that writes down when it is called, and a chain of two of them.
//
// In the journal: 100 + name before, 200 + name after, 300 + name after a failure.
#pragma once

#include <cstdint>

#include <tactus/dispatch/middleware.hpp>

#include "kernel_rig.hpp"

namespace tactus_test {

struct spy {
    std::int32_t name;
    tactus::verdict before(tactus::turn&, tactus::envelope&) {
        journal().add(100 + name);
        return tactus::verdict::proceed;
    }
    void after(tactus::turn&, tactus::envelope&, const tactus::handled& result) {
        journal().add((result.what() == tactus::handled::kind::failed ? 300 : 200) + name);
    }
};

/// `Spy` is a spy, or derived from one.
template <class Spy>
struct chain_of_two {
    Spy a{{1}};
    Spy b{{2}};
    tactus::middleware_of<Spy> first{a};
    tactus::middleware_of<Spy> second{b};
    tactus::middleware* members[2] = {&first, &second};
    tactus::middleware_chain chain{members};
};

}  // namespace tactus_test
