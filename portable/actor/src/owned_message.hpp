// SPDX-License-Identifier: Apache-2.0
//
// A system message of its own: what is rare, and may fail for memory.
#pragma once

#include <tactus/base/memory_source.hpp>
#include <tactus/mailbox/system_message.hpp>

#include <new>

namespace tactus::inline v0 {

struct owned_message final : system_message {
    memory_source* memory;

    /// Freed when it was handled or refused. Null: there is no memory.
    [[nodiscard]] static owned_message* make(memory_source& from, system_kind kind,
                                             void* payload) noexcept {
        void* block = from.allocate(sizeof(owned_message), alignof(owned_message));
        if (block == nullptr)
            return nullptr;
        auto* m = ::new (block) owned_message;
        m->memory = &from;
        m->kind = kind;
        m->data.write(payload);
        m->done = [](system_message& done) noexcept {
            auto& own = static_cast<owned_message&>(done);
            own.memory->release(&own, sizeof own, alignof(owned_message));
        };
        return m;
    }
};

}  // namespace tactus::inline v0
