// SPDX-License-Identifier: Apache-2.0
//
// Goal: exhaustion never aborts (DF-46). Whatever allocation, mapping or thread is refused, the
// outcome is an exception with a text, an error value or an actor's failure; nothing leaks; the
// system ends.
// Method: malloc and its kin, operator new, mmap, mprotect and pthread_create are replaced. A
// scripted program is run once for each request in turn, in a process of its own, and that request
// is refused: alone, and with all that follow it. A program of its own, so that nothing else asks.
#include <tactus/actor/ask.hpp>
#include <tactus/actor/system_events.hpp>
#include <tactus/runtime/actor_system.hpp>
#include <tactus/runtime/ask_future.hpp>

#include <dlfcn.h>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

// What is refused: of one kind the request with this number, or that and all later ones.
enum class asked : int { nothing, memory, thread };
std::atomic<asked> refuses{asked::nothing};
std::atomic<bool> counts{false};
std::atomic<std::uint64_t> requests[3];
std::uint64_t from = 0;
std::uint64_t to = 0;
std::atomic<std::int64_t> objects{0};  // made by operator new, and not deleted

bool refused(asked kind) {
    if (!counts.load(std::memory_order_relaxed))
        return false;
    const std::uint64_t n =
        requests[static_cast<int>(kind)].fetch_add(1, std::memory_order_relaxed);
    if (refuses.load(std::memory_order_relaxed) != kind || n < from || n >= to)
        return false;
    errno = ENOMEM;  // the C library looks at it
    return true;
}

}  // namespace

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);

void* malloc(std::size_t size) {
    return refused(asked::memory) ? nullptr : __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) {
    return refused(asked::memory) ? nullptr : __libc_calloc(count, size);
}
void* realloc(void* block, std::size_t size) {
    return refused(asked::memory) ? nullptr : __libc_realloc(block, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
    return refused(asked::memory) ? nullptr : __libc_memalign(alignment, size);
}
void* mmap(void* at, std::size_t size, int protection, int flags, int file, off_t offset) noexcept {
    using call = void* (*)(void*, std::size_t, int, int, int, off_t);
    static const call real = reinterpret_cast<call>(dlsym(RTLD_NEXT, "mmap"));
    if (refused(asked::memory))
        return MAP_FAILED;
    return real(at, size, protection, flags, file, offset);
}
int mprotect(void* at, std::size_t size, int protection) noexcept {
    using call = int (*)(void*, std::size_t, int);
    static const call real = reinterpret_cast<call>(dlsym(RTLD_NEXT, "mprotect"));
    if (refused(asked::memory))
        return -1;
    return real(at, size, protection);
}
int pthread_create(pthread_t* thread, const pthread_attr_t* how, void* (*body)(void*),
                   void* of) noexcept {
    using call = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
    static const call real = reinterpret_cast<call>(dlsym(RTLD_NEXT, "pthread_create"));
    return refused(asked::thread) ? EAGAIN : real(thread, how, body, of);
}
}

namespace {

void* object(std::size_t size, std::size_t alignment) {
    void* const block = alignment <= __STDCPP_DEFAULT_NEW_ALIGNMENT__
                            ? malloc(size)
                            : aligned_alloc(alignment, size);
    if (block == nullptr)
        throw std::bad_alloc();
    objects.fetch_add(1, std::memory_order_relaxed);
    return block;
}
void ended(void* block) noexcept {
    if (block != nullptr)
        objects.fetch_sub(1, std::memory_order_relaxed);
    std::free(block);
}

}  // namespace

void* operator new(std::size_t size) {
    return object(size, 1);
}
void* operator new(std::size_t size, std::align_val_t alignment) {
    return object(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* block) noexcept {
    ended(block);
}
void operator delete(void* block, std::size_t) noexcept {
    ended(block);
}
void operator delete(void* block, std::align_val_t) noexcept {
    ended(block);
}
void operator delete(void* block, std::size_t, std::align_val_t) noexcept {
    ended(block);
}

namespace {

using namespace tactus;  // NOLINT: the whole vocabulary is used
using namespace std::chrono_literals;

struct question {
    actor_ref<int> reply_to;
};
struct wait_a_bit {
    actor_ref<int> reply_to;
};
struct fail_now {};
struct large {
    char bytes[400];
};

class leaf : public actor<question, fail_now, large> {
public:
    void on(const question& q) { q.reply_to.tell(1); }
    void on(const fail_now&) { throw std::runtime_error("a failure that was asked for"); }
    void on(const large&) {}
};

/// Uses what allocates: children, watching, timers, coroutines, stash, asking, its log.
class branch : public with_stash<8>, public actor<question, wait_a_bit, fail_now, terminated> {
public:
    void pre_start() {
        child_ = context().spawn<leaf>("leaf");
        context().watch(child_.any());
        context().set_receive_timeout(duration::from_s(60));
        context().log().info("a branch with a text that is longer than a small string may be");
    }
    void on(const question& q) { q.reply_to.tell(2); }
    task<> on(wait_a_bit m) {
        (void)co_await context().delay(duration::from_ms(2));
        const auto got = co_await context().ask<int>(
            child_, [](auto me) { return question{me}; }, duration::from_ms(300));
        m.reply_to.tell(got.value_or(0));
    }
    void on(const fail_now&) { child_.tell(fail_now{}); }
    void on(const terminated&) {}
    void on(const receive_timeout&) {}

private:
    detail::ref_of<leaf> child_;
};

/// One that says nothing is as bad as an abort.
int told(const std::exception& e) {
    if (e.what() == nullptr || std::strlen(e.what()) == 0) {
        std::fprintf(stderr, "an exception without a text\n");
        return 1;
    }
    return 0;
}

void use(actor_system& system) {
    const auto top = system.try_spawn<branch>("branch", {});
    if (!top)
        return;
    for (int i = 0; i < 3; ++i)
        (void)top->try_tell(question{});
    (void)system.ask<int>(*top, [](auto me) { return question{me}; }, 300ms);
    (void)system.ask<int>(*top, [](auto me) { return wait_a_bit{me}; }, 300ms);
    top->tell(fail_now{});
    const auto plain = system.try_spawn<leaf>("plain", {});
    if (plain) {
        plain->tell(large{});
        plain->tell(fail_now{});
        (void)system.stop(plain->any());
        plain->tell(large{});  // a dead letter
    }
    (void)system.timers().schedule_once_fn(duration::from_ms(1), [](const execution_batch&) {});
    (void)system.register_on_close([] {}, "closing");
    (void)system.dispatchers().add(
        {.id = "more", .config = {.executor = executor_kind::thread_pool, .workers = 1}});
    (void)system.select("/user/branch").resolve();
    (void)system.dump();
    (void)system.dump_scheduler(dump_format::json);
    system.shutdown().add_task(phases::service_stop, "stop", [] {});
    (void)system.on_terminated([] {});
}

/// 0: as it should be.
int run_program() {
    int bad = 0;
    try {
        actor_system::options how;
        how.dispatcher.workers = 2;
        how.dispatcher.max_workers = 3;
        actor_system system("exhausted", how);
        try {
            use(system);
        } catch (const std::exception& e) {
            bad += told(e);
        }
        if (!system.terminate_and_wait(20s)) {
            counts.store(false);
            std::fprintf(stderr, "it does not end\n%s\n", system.dump().c_str());
            std::_Exit(3);
        }
    } catch (const std::exception& e) {
        bad += told(e);
    }
    return bad;
}

/// DF-44, DF-46: ask_future throws, or its future gets an answer. Only its requests are counted.
int ask_for_a_future() {
    counts.store(false);
    actor_system::options how;
    how.dispatcher.workers = 1;
    how.dispatcher.max_workers = 1;
    actor_system system("exhausted", how);
    const auto top = system.spawn<leaf>("a-leaf-with-a-name-that-no-small-string-holds");
    answer_future<int> answer;
    int bad = 0;
    requests[static_cast<int>(asked::memory)].store(0);
    counts.store(true);
    try {
        answer = ask_future<int>(system, top, [](auto me) { return question{me}; }, 300ms);
    } catch (const std::exception& e) {
        bad += told(e);
    }
    counts.store(false);
    if (!system.terminate_and_wait(20s))
        return 3;
    return bad + (answer.valid() && !answer.is_ready() ? 4 : 0);
}

/// DF-46: a dump without memory for its text says so at its end. Only its requests are counted.
template <dump_format Format>
int dump_what_fits() {
    counts.store(false);
    actor_system::options how;
    how.dispatcher.workers = 1;
    how.dispatcher.max_workers = 1;
    actor_system system("exhausted", how);
    for (int i = 0; i < 50; ++i)  // more than one block of a string
        (void)system.spawn_anonymous<leaf>();
    auto& asked_for = requests[static_cast<int>(asked::memory)];
    asked_for.store(0);
    counts.store(true);
    const std::string text = system.dump(Format);
    counts.store(false);
    const bool was_refused = asked_for.load() > from;
    const bool says_so = text.ends_with("(no memory)");
    if (!system.terminate_and_wait(20s))
        return 3;
    if (from == 0 && !was_refused)
        return 6;
    return was_refused == says_so ? 0 : 7;
}

struct outcome {
    int status = 0;
    std::string said;
};

/// In a process of its own.
outcome run_in_child(asked kind, std::uint64_t first, std::uint64_t last, int (*program)()) {
    char name[] = "/tmp/tactus-exhaustion-XXXXXX";
    const int file = mkstemp(name);
    unlink(name);
    const pid_t child = fork();
    if (child == 0) {
        const rlimit none{};
        setrlimit(RLIMIT_CORE, &none);
        dup2(file, STDERR_FILENO);
        alarm(120);
        const std::int64_t before = objects.load();
        from = first;
        to = last;
        for (auto& count : requests)
            count.store(0);
        refuses.store(kind);
        counts.store(true);
        int bad = program();
        counts.store(false);
        if (objects.load() != before) {
            std::fprintf(stderr, "%lld objects leak\n",
                         static_cast<long long>(objects.load() - before));
            bad = 2;
        }
        _exit(bad);
    }
    outcome o;
    waitpid(child, &o.status, 0);
    char text[2'000];
    const ssize_t size = pread(file, text, sizeof text, 0);
    o.said.assign(text, size > 0 ? static_cast<std::size_t>(size) : 0);
    close(file);
    return o;
}

bool good(const char* what, std::uint64_t n, const outcome& o) {
    if (WIFEXITED(o.status) && WEXITSTATUS(o.status) == 0)
        return true;
    std::printf("%s %llu: %s %d\n%s\n", what, static_cast<unsigned long long>(n),
                WIFSIGNALED(o.status) ? "signal" : "exit",
                WIFSIGNALED(o.status) ? WTERMSIG(o.status) : WEXITSTATUS(o.status), o.said.c_str());
    return false;
}

/// Addresses of this process, in bytes.
std::size_t addresses() {
    std::FILE* const file = std::fopen("/proc/self/statm", "r");
    unsigned long pages = 0;
    const bool there = file != nullptr && std::fscanf(file, "%lu", &pages) == 1;
    if (file != nullptr)
        std::fclose(file);
    return there ? std::size_t{pages} * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) : 0;
}

/// In a child: what the machine refuses is an exception that says what to change.
int run_with_few_addresses() {
    const rlimit few{.rlim_cur = addresses() + (std::size_t{200} << 20U),
                     .rlim_max = RLIM_INFINITY};
    setrlimit(RLIMIT_AS, &few);
    try {
        actor_system system("large");
        return 6;  // it was not refused
    } catch (const memory_exception& e) {
        if (std::strstr(e.what(), "actors_max") == nullptr)
            return 4;
    }
    actor_system::options small;
    small.actors_max = 1'024;
    small.messages_max = 1'024;
    small.timers_max = 1'024;
    small.dispatcher.workers = 1;
    small.dispatcher.max_workers = 1;
    actor_system system("small", small);
    return system.try_spawn<leaf>("leaf", {}) ? 0 : 5;
}

/// DF-46: with nobody to handle them, no more than messages_max are accepted, or a few that workers
/// keep; the next is refused as pool_exhausted. When they are handled, there is room again.
bool is_refused_beyond_messages_max(actor_system& system, const detail::ref_of<leaf>& who) {
    (void)system.world().kernel().suspend(who.index(), suspension::await);
    int accepted = 0;
    bool refused_by_name = false;
    while (!refused_by_name && accepted < 10'000) {
        const auto result = who.try_tell(question{});
        refused_by_name = !result && result.error().why == sent::pool_exhausted;
        if (!result && !refused_by_name)
            return false;
        ++accepted;
    }
    std::printf("%d messages are accepted where 64 are the most\n", accepted - 1);
    (void)system.world().kernel().resume(who.index(), suspension::await);
    // The first may find no room yet.
    bool answered = false;
    for (int i = 0; i < 1'000 && !answered; ++i) {
        answered = system.ask<int>(who, [](auto me) { return question{me}; }, 5s).has_value();
        if (!answered)
            std::this_thread::sleep_for(1ms);
    }
    return refused_by_name && accepted - 1 >= 1 && accepted - 1 <= 128 && answered;
}

/// What a system reserves, and what it says beyond its limits.
int look_at_limits() {
    int bad = 0;
    const std::size_t before = addresses();
    {
        const actor_system system("plain");
        const std::size_t taken = addresses() - before;
        std::printf("a default system reserves %zu MiB of addresses\n", taken >> 20U);
        // Stacks of threads are not the system's to limit.
        bad += taken < (std::size_t{1} << 30U) + (std::size_t{512} << 20U) ? 0 : 1;
    }
    {
        actor_system::options few;
        few.actors_max = 64;
        few.messages_max = 64;
        actor_system system("few", few);
        const auto one = system.try_spawn<leaf>("one", {});
        bool refused_by_name = false;
        for (int i = 0; i < 200 && !refused_by_name; ++i) {
            const auto more = system.try_spawn<leaf>({}, {});
            refused_by_name = !more && more.error().what == spawn_error::kind::slots_exhausted;
        }
        bad += one && refused_by_name ? 0 : 1;
    }
    {
        actor_system::options few;
        few.messages_max = 64;
        actor_system system("few", few);
        const auto one = system.try_spawn<leaf>("one", {});
        bad += one && is_refused_beyond_messages_max(system, *one) ? 0 : 1;
    }
    // No system is left: a child of a process that has one cannot make its own.
    std::fflush(stdout);
    const pid_t child = fork();
    if (child == 0)
        _exit(run_with_few_addresses());
    int status = 0;
    waitpid(child, &status, 0);
    if (status != 0)
        std::printf("with few addresses: %d\n", status);
    return bad + (status == 0 ? 0 : 1);
}

}  // namespace

int main(int argc, char** argv) {
    // Statics of the libraries are made by the first run.
    counts.store(true);
    const int first = run_program();
    counts.store(false);
    const std::uint64_t memory = requests[static_cast<int>(asked::memory)].load();
    const std::uint64_t threads = requests[static_cast<int>(asked::thread)].load();
    std::printf("%llu requests for memory, %llu for threads\n",
                static_cast<unsigned long long>(memory), static_cast<unsigned long long>(threads));
    std::fflush(stdout);
    if (first != 0 || memory < 100 || threads < 4) {
        std::printf("the program or the hooks do not work\n");
        return 1;
    }
    int failed = look_at_limits();
    const std::uint64_t begin = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 0;
    const std::uint64_t end = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : memory + 20;
    constexpr std::uint64_t ever = UINT64_MAX;
    const auto look = [&](const char* what, asked kind, std::uint64_t n, std::uint64_t last) {
        failed += good(what, n, run_in_child(kind, n, last, run_program)) ? 0 : 1;
        std::fflush(stdout);
    };
    for (std::uint64_t n = begin; n < end; ++n)
        look("memory", asked::memory, n, n + 1);
    for (std::uint64_t n = begin; n < end; n += 7)
        look("memory from", asked::memory, n, ever);
    for (std::uint64_t n = 0; n < 24; ++n) {
        for (const std::uint64_t last : {n + 1, ever})
            failed += good("ask_future, memory", n,
                           run_in_child(asked::memory, n, last, ask_for_a_future))
                          ? 0
                          : 1;
    }
    for (std::uint64_t n = 0; n < 24; ++n) {
        for (const std::uint64_t last : {n + 1, ever}) {
            const outcome text =
                run_in_child(asked::memory, n, last, dump_what_fits<dump_format::text>);
            const outcome json =
                run_in_child(asked::memory, n, last, dump_what_fits<dump_format::json>);
            failed += good("dump, memory", n, text) ? 0 : 1;
            failed += good("dump as JSON, memory", n, json) ? 0 : 1;
        }
    }
    for (std::uint64_t n = 0; n < threads + 2; ++n) {
        look("thread", asked::thread, n, n + 1);
        look("threads from", asked::thread, n, ever);
    }
    std::printf("%d failed\n", failed);
    return failed == 0 ? 0 : 1;
}
