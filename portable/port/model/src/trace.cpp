// SPDX-License-Identifier: Apache-2.0
//
// An execution in words: its steps, who waits for what, and the schedule that repeats it.
//
// A schedule is the decisions in order: a letter is the thread that takes a step, a number after it
// how many in a row, and /n the choice of the n-th possibility within the step before.
#include "execution.hpp"

#include <cstdio>

namespace tactus::inline v0::port::model::detail {
namespace {

constexpr std::size_t lines_max = 400;  // of a trace; the beginning of a longer one is left out

const char* order_text(order o) noexcept {
    switch (o) {
    case order::relaxed:
        return "relaxed";
    case order::consume:
        return "consume";
    case order::acquire:
        return "acquire";
    case order::release:
        return "release";
    case order::acq_rel:
        return "acq_rel";
    case order::seq_cst:
        break;
    }
    return "seq_cst";
}

bool has_order(op kind) noexcept {
    return kind == op::load || kind == op::store || kind == op::modify || kind == op::exchanged ||
           kind == op::not_exchanged;
}

std::string value_text(std::uint64_t value, bool is_pointer) {
    if (!is_pointer)
        return std::to_string(value);
    if (value == 0)
        return "null";
    char text[24];
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
    return text;
}

std::string threads_text(std::uint64_t set) {
    std::string text = set == 0 ? "nobody" : "";
    for_each(static_cast<thread_mask>(set),
             [&](unsigned t) { text += (text.empty() ? "" : ", ") + thread_name(t); });
    return text;
}

}  // namespace

std::string place_text(where at) {
    std::string file = at.file_name();
    if (file.empty())
        return "its start";
    if (const auto slash = file.rfind('/'); slash != std::string::npos)
        file.erase(0, slash + 1);
    return file + ":" + std::to_string(at.line());
}

std::string thread_name(unsigned thread) {
    return std::string("thread ") + static_cast<char>('a' + thread);
}

const char* op_text(op kind) noexcept {
    switch (kind) {
    case op::start:
        return "starts";
    case op::load:
        return "load";
    case op::store:
        return "store";
    case op::modify:
        return "modify";
    case op::exchanged:
        return "exchanged";
    case op::not_exchanged:
        return "not exchanged";
    case op::compare:
        return "compare";
    case op::lock:
        return "lock";
    case op::try_lock:
        return "try_lock";
    case op::unlock:
        return "unlock";
    case op::wait:
        return "waits";
    case op::relock:
        return "woken";
    case op::notify:
        return "notify";
    case op::look:
        return "wait_on looks";
    case op::sleep_over:
        return "wait_on ends";
    case op::wake:
        return "wake_one";
    case op::give_way:
        return "gives way";
    case op::create:
        return "creates";
    case op::join:
        return "joined";
    case op::finish:
        return "ends";
    case op::plain_read:
        return "read";
    case op::plain_write:
        return "write";
    case op::allocated:
        return "allocate";
    case op::freed:
        return "free";
    case op::chosen:
        return "choose";
    case op::noted:
        return "note";
    }
    return "?";
}

std::string execution::here(where at) const {
    return thread_name(current_) + " at " + place_text(at);
}

std::string execution::name_of(std::uint32_t object) const {
    const location& l = *locations_[object];
    if (l.name != nullptr)
        return l.name;
    static constexpr const char* kinds[] = {"atomic", "plain", "mutex", "condition", "threads"};
    return std::string(kinds[static_cast<std::size_t>(l.kind)]) + " #" + std::to_string(object);
}

void execution::show(op kind, std::uint32_t object, std::uint64_t value, where at,
                     const char* text) {
    trace_.push_back({kind, static_cast<std::uint8_t>(current_), order::relaxed, false, false,
                      object, value, text, at});
}

void execution::note(const char* text, where at) {
    show(op::noted, no_object, 0, at, text);
}

std::string execution::trace_text() const {
    std::string all;
    const std::size_t first = trace_.size() > lines_max ? trace_.size() - lines_max : 0;
    if (first > 0)
        all += "  ... " + std::to_string(first) + " earlier lines\n";
    for (std::size_t i = first; i < trace_.size(); ++i) {
        const trace_line& line = trace_[i];
        std::string what;
        const bool plain = line.kind == op::plain_read || line.kind == op::plain_write;
        if (line.kind == op::create || line.kind == op::join) {
            what = thread_name(static_cast<unsigned>(line.value));
        } else if (line.object != no_object) {
            const location& l = *locations_[line.object];
            what = name_of(line.object);
            if (line.kind == op::wake || line.kind == op::notify)
                what += " wakes " + threads_text(line.value);
            else if (line.kind == op::sleep_over)
                what += line.value == 0 ? " timed out" : line.value == 1 ? " woken" : " no reason";
            else if (line.kind == op::relock)
                what += line.value == 0 ? " for no reason" : "";
            else if (line.kind == op::try_lock)
                what += line.value == 0 ? " in vain" : "";
            else if (!plain && l.kind == location_kind::atomic)
                what += " = " + value_text(line.value, l.is_pointer);
        } else if (line.kind == op::allocated || line.kind == op::freed) {
            what = value_text(line.value, true);
        } else if (line.kind == op::chosen) {
            what = std::to_string(line.value);
        } else if (line.text != nullptr) {
            what = line.text;
        }
        if (line.old)
            what += " (old)";
        if (line.future)
            what += " (future)";
        char text[200];
        std::snprintf(text, sizeof text, "%5zu  %c  %-13s  %-32s  %-8s  %s\n", i + 1,
                      'a' + line.thread, op_text(line.kind), what.c_str(),
                      has_order(line.kind) ? order_text(line.memory_order) : "",
                      line.at.line() == 0 ? "" : place_text(line.at).c_str());
        all += text;
    }
    return all;
}

std::string execution::schedule_text() const {
    std::string text;
    for (std::size_t i = 0; i < taken_.size();) {
        const taken_decision d = taken_[i];
        if (d.is_choice) {
            text += "/" + std::to_string(d.value);
            ++i;
            continue;
        }
        std::size_t end = i;
        while (end < taken_.size() && !taken_[end].is_choice && taken_[end].value == d.value)
            ++end;
        text += static_cast<char>('a' + d.value);
        if (end - i > 1)
            text += std::to_string(end - i);
        i = end;
    }
    return text;
}

std::string execution::deadlock_text() const {
    std::string text = "nobody can go on:";
    for (unsigned t = 0; t < thread_count_; ++t) {
        if (threads_[t].state != status::alive)
            continue;
        const operation& o = pending_[t];
        text += (text.back() == ':' ? " " : "; ") + thread_name(t) + " waits for ";
        if (o.kind == op::join) {
            text += thread_name(threads_[t].joins);
        } else if (o.kind == op::relock && !threads_[t].woken) {
            text += name_of(o.touched[1].object);
        } else {
            text += name_of(o.touched[0].object);
            const unsigned owner = locations_[o.touched[0].object]->owner;
            if (owner != no_thread)
                text += " (held by " + thread_name(owner) + ")";
        }
        text += " at " + place_text(o.at);
    }
    return text;
}

}  // namespace tactus::inline v0::port::model::detail
