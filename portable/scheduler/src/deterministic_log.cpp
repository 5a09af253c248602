// SPDX-License-Identifier: Apache-2.0
//
// Recording, and the bytes of a log: written and read here, so that the layout is in one place.
#include <tactus/scheduler/deterministic_log.hpp>
#include <tactus/scheduler/log_replay.hpp>

#include <tactus/dispatch/text_buffer.hpp>

#include <algorithm>
#include <concepts>
#include <memory>
#include <utility>

namespace tactus::inline v0 {
namespace {

constexpr char magic[] = {'T', 'A', 'C', 'T', 'L', 'O', 'G', '\n'};

/// Puts numbers one behind the other.
class encoder {
public:
    explicit encoder(std::byte* to) noexcept : to_(to) {}
    template <std::unsigned_integral T>
    encoder& add(T n) noexcept {
        for (std::size_t i = 0; i < sizeof(T); ++i)
            *to_++ = static_cast<std::byte>(static_cast<std::uint64_t>(n) >> (8 * i));
        return *this;
    }

private:
    std::byte* to_;
};

class decoder {
public:
    explicit decoder(const std::byte* from) noexcept : from_(from) {}
    template <std::unsigned_integral T>
    [[nodiscard]] T take() noexcept {
        std::uint64_t n = 0;
        for (std::size_t i = 0; i < sizeof(T); ++i)
            n |= std::to_integer<std::uint64_t>(*from_++) << (8 * i);
        return static_cast<T>(n);
    }

private:
    const std::byte* from_;
};

bool is_recorded(diagnostic_kind kind) noexcept {
    switch (kind) {
    case diagnostic_kind::schedule:
    case diagnostic_kind::fire:
    case diagnostic_kind::cancel:
    case diagnostic_kind::on_close:
        return true;
    case diagnostic_kind::drop:
    case diagnostic_kind::drift:
    case diagnostic_kind::driver_status:
    case diagnostic_kind::state:
    case diagnostic_kind::driver_metrics:
    case diagnostic_kind::diagnostics_overflow:
        break;
    }
    return false;
}

}  // namespace

std::expected<void, scheduler_error> deterministic_log::enable(std::uint32_t capacity,
                                                               log_keeps keeps) noexcept {
    if (capacity == 0 || capacity > capacity_max)
        return std::unexpected(scheduler_error{.code = scheduler_errc::invalid_options,
                                               .field = "capacity",
                                               .value = capacity,
                                               .limit = capacity == 0 ? 1 : capacity_max});
    void* const block = readers_ != 0
                            ? nullptr
                            : memory_.allocate(capacity * sizeof(diagnostic), alignof(diagnostic));
    if (block == nullptr)
        return std::unexpected(scheduler_error{.code = scheduler_errc::capacity_exceeded,
                                               .field = "log",
                                               .value = capacity_,
                                               .limit = capacity_});
    disable();
    records_ = static_cast<diagnostic*>(block);
    std::uninitialized_default_construct_n(records_, capacity);
    capacity_ = capacity;
    keeps_ = keeps;
    return {};
}

void deterministic_log::disable() noexcept {
    if (records_ != nullptr)
        memory_.release(records_, capacity_ * sizeof(diagnostic), alignof(diagnostic));
    records_ = nullptr;
    size_ = 0;
    capacity_ = 0;
    lost_ = 0;
    oldest_ = 0;
}

void deterministic_log::keep(const diagnostic& what) noexcept {
    if (!is_recorded(what.kind))
        return;
    if (size_ < capacity_) {
        records_[size_++] = what;
        return;
    }
    ++lost_;
    if (keeps_ == log_keeps::oldest || readers_ != 0)
        return;
    records_[oldest_] = what;
    oldest_ = oldest_ + 1 == capacity_ ? 0 : oldest_ + 1;
}

recorded_log deterministic_log::begin_reading() noexcept {
    // While others read nothing was overwritten.
    if (const std::uint32_t oldest = std::exchange(oldest_, 0); oldest != 0)
        std::rotate(records_, records_ + oldest, records_ + size_);
    ++readers_;
    return static_cast<const recorded_log&>(*this);
}

void recorded_log::write(byte_sink& to) const noexcept {
    std::byte header[log_replay::header_size];
    std::ranges::copy(std::as_bytes(std::span(magic)), header);
    encoder(header + sizeof magic)
        .add(log_replay::version)
        .add(std::uint16_t{log_replay::record_size})
        .add(static_cast<std::uint32_t>(keeps_))
        .add(std::uint64_t{size_})
        .add(lost_);
    to.write(header);
    for (const diagnostic& d : records()) {
        std::byte record[log_replay::record_size];
        encoder(record)
            .add(static_cast<std::uint8_t>(d.kind))
            .add(static_cast<std::uint8_t>(d.mode))
            .add(d.executor)
            .add(d.job)
            .add(d.scheduled_at)
            .add(d.deadline)
            .add(d.at)
            .add(static_cast<std::uint64_t>(d.detail));
        to.write(record);
    }
}

std::expected<log_replay, log_error> log_replay::read(std::span<const std::byte> bytes) noexcept {
    const auto refused = [](log_errc code, std::uint64_t value, std::uint64_t limit) {
        return std::unexpected(log_error{code, value, limit});
    };
    const auto known = std::as_bytes(std::span(magic));
    const std::size_t compared = std::min(bytes.size(), known.size());
    if (bytes.empty() || !std::ranges::equal(bytes.first(compared), known.first(compared)))
        return refused(log_errc::not_a_log, bytes.size(), header_size);
    if (bytes.size() < header_size)
        return refused(log_errc::truncated, bytes.size(), header_size);
    decoder header(bytes.data() + sizeof magic);
    const auto found_version = header.take<std::uint16_t>();
    const auto found_size = header.take<std::uint16_t>();
    if (found_version != version)
        return refused(log_errc::wrong_version, found_version, version);
    const auto keeps = header.take<std::uint32_t>();
    if (found_size != record_size || keeps > static_cast<std::uint32_t>(log_keeps::newest))
        return refused(log_errc::not_a_log, bytes.size(), header_size);
    const auto count = header.take<std::uint64_t>();
    const std::size_t there = bytes.size() - header_size;
    constexpr std::uint64_t longest = (~std::uint64_t{0} - header_size) / record_size;
    const std::uint64_t needed = header_size + std::min(count, longest) * record_size;
    if (count > there / record_size)
        return refused(log_errc::truncated, bytes.size(), needed);
    if (there != count * record_size)
        return refused(log_errc::too_long, bytes.size(), needed);

    log_replay replay;
    replay.bytes_ = bytes.subspan(header_size);
    replay.size_ = static_cast<std::size_t>(count);
    replay.lost_ = header.take<std::uint64_t>();
    replay.keeps_ = static_cast<log_keeps>(keeps);
    for (std::size_t i = 0; i < replay.size_; ++i) {
        const diagnostic d = replay.decoded(i);
        if (!is_recorded(d.kind) || static_cast<std::size_t>(d.mode) >= job_mode_count)
            return refused(log_errc::bad_record, i, count);
    }
    return replay;
}

diagnostic log_replay::decoded(std::size_t i) const noexcept {
    decoder record(bytes_.data() + i * record_size);
    diagnostic d;
    d.kind = static_cast<diagnostic_kind>(record.take<std::uint8_t>());
    d.mode = static_cast<job_mode>(record.take<std::uint8_t>());
    d.executor = record.take<std::uint16_t>();
    d.job = record.take<std::uint64_t>();
    d.scheduled_at = record.take<std::uint64_t>();
    d.deadline = record.take<std::uint64_t>();
    d.at = record.take<std::uint64_t>();
    d.detail = static_cast<std::int64_t>(record.take<std::uint64_t>());
    return d;
}

std::size_t log_replay::first_difference(const log_replay& a, const log_replay& b) noexcept {
    const std::size_t common = std::min(a.size(), b.size());
    std::size_t i = 0;
    while (i < common && a[i] == b[i])
        ++i;
    return i;
}

std::string_view describe_difference(const log_replay& recorded, const log_replay& this_run,
                                     std::span<char> out) noexcept {
    const std::size_t at = log_replay::first_difference(recorded, this_run);
    if (at == recorded.size() && at == this_run.size())
        return {};
    text_in text(out);
    text.add("record ").add(at).add(" differs; ");
    const auto add = [&](const char* whose, const log_replay& log) {
        text.add(whose);
        if (at == log.size()) {
            text.add("the end");
            return;
        }
        char sentence[200];
        const diagnostic record = log[at];
        text.add(describe(record, sentence))
            .add(" (dispatcher ")
            .add(record.executor)
            .add(", detail ")
            .add(record.detail)
            .add(")");
    };
    add("recorded: ", recorded);
    add("; this run: ", this_run);
    return text.view();
}

const char* name_of(log_errc code) noexcept {
    static constexpr const char* names[log_errc_count] = {"not_a_log", "wrong_version", "truncated",
                                                          "too_long", "bad_record"};
    const auto i = static_cast<std::size_t>(code);
    return i < log_errc_count ? names[i] : "unknown";
}

std::string_view describe(const log_error& error, std::span<char> out) noexcept {
    struct row {
        const char* before_value;
        const char* before_limit;
        const char* after;
    };
    static constexpr row rows[log_errc_count] = {
        {"", " bytes are no log of a scheduler, which begins with ", " bytes of a header"},
        {"the log has version ", ", this program reads version ", ""},
        {"the log has ", " bytes, its header asks for ", ": the end is missing"},
        {"the log has ", " bytes, its header asks for ", ": something follows it"},
        {"record ", " of ", " is none that a scheduler writes"},
    };
    text_in text(out);
    const auto i = static_cast<std::size_t>(error.code);
    if (i >= log_errc_count)
        return text.add("unknown").view();
    return text.add(rows[i].before_value)
        .add(error.value)
        .add(rows[i].before_limit)
        .add(error.limit)
        .add(rows[i].after)
        .view();
}

}  // namespace tactus::inline v0
