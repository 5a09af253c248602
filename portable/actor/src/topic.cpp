// SPDX-License-Identifier: Apache-2.0
//
// Who subscribed to a topic.
#include <tactus/actor/topic.hpp>

#include <new>

namespace tactus::inline v0::detail {

ref_list::~ref_list() {
    while (first_ != nullptr)
        (void)remove(first_->who);
}

ref_list::node** ref_list::find(any_ref who) noexcept {
    node** at = &first_;
    while (*at != nullptr && (*at)->who != who)
        at = &(*at)->next;
    return at;
}

ref_list::added ref_list::add(any_ref who) noexcept {
    node** at = find(who);
    if (*at != nullptr)
        return added::known;
    void* block = memory_.allocate(sizeof(node), alignof(node));
    if (block == nullptr)
        return added::no_memory;
    *at = ::new (block) node{nullptr, who};
    return added::done;
}

bool ref_list::remove(any_ref who) noexcept {
    node** at = find(who);
    if (*at == nullptr)
        return false;
    node* gone = *at;
    *at = gone->next;
    memory_.release(gone, sizeof *gone, alignof(node));
    return true;
}

}  // namespace tactus::inline v0::detail
