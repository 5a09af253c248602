// SPDX-License-Identifier: Apache-2.0
//
// Must not compile as portable code: dynamic_cast needs run-time type information.
struct animal {
    virtual ~animal() = default;
};
struct cat : animal {};

bool is_cat(const animal& a) {
    return dynamic_cast<const cat*>(&a) != nullptr;
}
