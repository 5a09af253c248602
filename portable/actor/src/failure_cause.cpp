// SPDX-License-Identifier: Apache-2.0
//
// Making, sharing and ending causes of failures.
#include <tactus/actor/failure_cause.hpp>

#include <cstring>
#include <new>

namespace tactus::inline v0 {

const char* name_of(failure_kind kind) noexcept {
    static constexpr const char* names[failure_kind_count] = {
        "returned", "exception",  "initialization", "post_restart",
        "killed",   "death_pact", "supervision",    "runtime"};
    return names[static_cast<std::size_t>(kind)];
}

void failure_cause::set_text(std::string_view text) noexcept {
    text_size_ = static_cast<std::uint8_t>(text.size() < text_max ? text.size() : text_max);
    std::memcpy(text_, text.data(), text_size_);
}

cause_ref cause_ref::make(memory_source& memory, failure_kind kind, const failure& why) noexcept {
    void* block = memory.allocate(sizeof(failure_cause), alignof(failure_cause));
    cause_ref made;
    if (block == nullptr) {
        // Shared by all who find no memory; never counted, never changed after it was made.
        static failure_cause& none = [] -> failure_cause& {
            alignas(failure_cause) static std::byte place[sizeof(failure_cause)];
            auto* c = ::new (static_cast<void*>(place)) failure_cause;
            c->kind_ = failure_kind::runtime;
            c->set_text("no memory to say why it failed");
            return *c;
        }();
        made.cause_ = &none;
        return made;
    }
    made.cause_ = ::new (block) failure_cause;
    made.cause_->memory_ = &memory;
    made.cause_->kind_ = kind;
    made.cause_->code_ = why.code;
    made.cause_->retry_after_ = why.retry_after;
    made.cause_->set_text(why.what);
    return made;
}

cause_ref cause_ref::as(memory_source& memory, failure_kind kind) const noexcept {
    failure why;
    why.code = cause_->code_;
    why.retry_after = cause_->retry_after_;
    cause_ref made = make(memory, kind, why);
    if (made.cause_->memory_ == nullptr)
        return made;
    made.cause_->set_text(cause_->text());
    // The exception has one owner; who wraps a cause is its last user.
    if (cause_->memory_ != nullptr && cause_->exception_ != nullptr) {
        made.cause_->exception_ = cause_->exception_;
        made.cause_->drop_exception_ = cause_->drop_exception_;
        cause_->exception_ = nullptr;
    }
    return made;
}

void cause_ref::hold() const noexcept {
    // Relaxed: who copies holds it already.
    if (cause_ != nullptr && cause_->memory_ != nullptr)
        cause_->holders_.fetch_add(1, std::memory_order_relaxed);
}

void cause_ref::drop() noexcept {
    failure_cause* c = cause_;
    cause_ = nullptr;
    if (c == nullptr || c->memory_ == nullptr || c->holders_.fetch_sub(1, dropped.acq_rel()) != 1)
        return;
    memory_source& memory = *c->memory_;
    if (c->exception_ != nullptr) {
        c->drop_exception_(c->exception_);
        memory.release(c->exception_, sizeof(void*), alignof(void*));
    }
    c->~failure_cause();
    memory.release(c, sizeof(failure_cause), alignof(failure_cause));
}

}  // namespace tactus::inline v0
