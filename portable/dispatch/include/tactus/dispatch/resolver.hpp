// SPDX-License-Identifier: Apache-2.0
//
// Resolver: which dispatcher and which mailbox an actor gets (DR-1 ... DR-5).
//
// Dispatchers and mailboxes have ids; an alias is another name for one, followed up to 20 deep; a
// deployment names them for an actor's path, or for many: in it `*` stands for one name, and `**`
// at its end for any path below; a requirement is mapped to a mailbox that satisfies it. resolve()
// asks in a fixed order, and the first that has something to say decides:
//
//     dispatcher   props, deployment, default
//     mailbox      props, deployment, the dispatcher's mailbox, the actor's requirement,
//                  the dispatcher's requirement, default
//
// With precedence::deployment_first (the `pekko` preset) props and deployment change places.
// Whoever decides, the mailbox is then checked against what the actor and the dispatcher require.
//
// Invariants
//   R1  an id is a dispatcher or an alias, and a mailbox or an alias; never both
//   R2  what was handed out is in use: it stays where it is and as it is, but for its limits
//   R3  names and entries are never freed before the resolver is
//
// Memory: chunks of the memory source, taken when something is added. Nothing when resolving.
// Thread safety: any thread, one lock; resolving happens at spawn, never per message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <initializer_list>
#include <string_view>

#include <tactus/base/check.hpp>
#include <tactus/base/memory_source.hpp>
#include <tactus/dispatch/dispatch_rules.hpp>
#include <tactus/dispatch/dispatcher_config.hpp>
#include <tactus/dispatch/dispatcher_entry.hpp>
#include <tactus/dispatch/placement.hpp>
#include <tactus/dispatch/resolve_error.hpp>
#include <tactus/port/port.hpp>

namespace tactus::inline v0 {

/// Who decided about a mailbox.
enum class chosen_by : std::uint8_t {
    props,
    deployment,
    dispatcher,
    actor_requirement,
    dispatcher_requirement,
    fallback,
};
inline constexpr std::size_t chosen_by_count = 6;
[[nodiscard]] const char* name_of(chosen_by who) noexcept;

struct resolve_request {
    std::string_view path = {};             // of the actor; empty: none, so no deployment
    placement choice = {};                  // what its props say
    capability_set actor_requirement = {};  // what its class requires; props may add to it
};

struct resolved {
    dispatcher_entry* dispatcher = nullptr;
    mailbox_options mailbox = {};
    chosen_by mailbox_by = chosen_by::fallback;
};

/// What a deployment says; empty: nothing.
struct deployment {
    std::string_view dispatcher = {};
    std::string_view mailbox = {};
};

class resolver {
public:
    static constexpr std::uint32_t alias_depth_max = 20;
    static constexpr std::size_t id_size_max = 100;
    static constexpr std::size_t path_size_max = 1'000;

    struct options {
        memory_source* memory = nullptr;  // outlives the resolver
        dispatch_rules rules = {};
        std::uint32_t bucket_count = 16;  // a power of two, at first: it grows with the names
        std::uint32_t chunk_size = 1'024;
    };
    template <class T>
    using result = std::expected<T, resolve_error>;

    /// The ids of DR-3 are there from the start. Requires: memory for them (numbered checks).
    explicit resolver(const options& o) noexcept;
    ~resolver();
    resolver(const resolver&) = delete;
    resolver& operator=(const resolver&) = delete;

    // ---- what there is; also while the system runs. Strings are copied.

    [[nodiscard]] result<void> add_dispatcher(std::string_view id,
                                              const dispatcher_config& config) noexcept;
    [[nodiscard]] result<void> add_mailbox(std::string_view id,
                                           const mailbox_options& wanted) noexcept;
    /// Another name, for a dispatcher or a mailbox or both; the target may come later.
    [[nodiscard]] result<void> add_alias(std::string_view alias, std::string_view target) noexcept;
    /// Of those that fit a path, the one counts that says its first names more exactly: itself,
    /// then `*`, then `**`.
    [[nodiscard]] result<void> add_deployment(std::string_view path, const deployment& d) noexcept;
    /// Before the built-in mapping. The mailbox may come later.
    [[nodiscard]] result<void> map_requirement(capability_set required,
                                               std::string_view mailbox) noexcept;

    /// Another configuration for an id that is there; refused once it was handed out.
    [[nodiscard]] result<void> replace_dispatcher(std::string_view id,
                                                  const dispatcher_config& config) noexcept;
    [[nodiscard]] result<void> replace_mailbox(std::string_view id,
                                               const mailbox_options& wanted) noexcept;

    // ---- asking

    /// By id or alias. The entry is in use from now on, and lives as long as the resolver.
    [[nodiscard]] result<dispatcher_entry*> resolve_dispatcher(std::string_view id) noexcept;
    [[nodiscard]] result<mailbox_options> resolve_mailbox(std::string_view id) noexcept;
    [[nodiscard]] result<resolved> resolve(const resolve_request& request) noexcept;

    /// An actor that says nothing and requires nothing gets the default dispatcher and a mailbox
    /// with default options, wherever it is: it need not be resolved. No lock.
    [[nodiscard]] bool is_plain() const noexcept {
        // Relaxed: a flag alone; a program that changes it before a spawn orders the two itself.
        return plain_.load(std::memory_order_relaxed) != 0;
    }

    /// The entry of that number, nullptr when there is none.
    [[nodiscard]] dispatcher_entry* dispatcher(std::uint32_t number) noexcept;
    [[nodiscard]] std::uint32_t dispatcher_count() noexcept;
    /// How often it was asked, by any of the three.
    [[nodiscard]] std::uint64_t resolve_count() noexcept;
    [[nodiscard]] const dispatch_rules& rules() const noexcept { return rules_; }

private:
    TACTUS_CHECK_MODULE("resolver");

    static constexpr std::uint32_t nodes_per_bucket = 4;  // on average, before it grows

    enum class category : std::uint8_t { dispatcher, mailbox, alias, deployment, requirement };
    struct chunk;
    struct node;
    struct dispatcher_node;
    struct mailbox_node;
    struct reference_node;
    struct found_mailbox;
    struct inquiry;

    // All under the lock.
    [[nodiscard]] node* find(category c, std::string_view name) const noexcept;
    template <class Node>
    [[nodiscard]] Node* find_as(category c, std::string_view name) const noexcept;
    /// Of the actor's path; null: none.
    [[nodiscard]] const reference_node* find_deployment(std::string_view path) const noexcept;
    [[nodiscard]] void* take(std::size_t size, std::size_t alignment) noexcept;
    /// nullptr when there is no room.
    [[nodiscard]] const char* keep(std::string_view first, std::string_view second = {}) noexcept;
    void link(node& n) noexcept;
    void push(node& n) noexcept;
    /// Doubles the buckets if there is memory for them.
    void grow() noexcept;
    /// After a change of a default or a deployment.
    void note_plain() noexcept;

    [[nodiscard]] result<void> may_add_entry(category c, std::string_view id) const noexcept;
    [[nodiscard]] result<void> insert_dispatcher(std::string_view id,
                                                 const dispatcher_config& config) noexcept;
    [[nodiscard]] result<void> insert_mailbox(std::string_view id,
                                              const mailbox_options& wanted) noexcept;
    [[nodiscard]] result<void> insert_reference(category c, std::string_view name,
                                                std::string_view first,
                                                std::string_view second) noexcept;

    /// The id at the end of the aliases, which is there.
    [[nodiscard]] result<std::string_view> follow_aliases(category c,
                                                          std::string_view id) const noexcept;
    [[nodiscard]] result<dispatcher_node*> look_up_dispatcher(std::string_view id) noexcept;
    [[nodiscard]] result<found_mailbox> look_up_mailbox(std::string_view id) noexcept;
    [[nodiscard]] std::string_view mapped(capability_set required) const noexcept;
    /// Says what named the id that is unknown.
    static void blame(resolve_error& e, std::string_view what, std::string_view name) noexcept;
    [[nodiscard]] static resolve_error unmapped(capability_set required) noexcept;
    [[nodiscard]] result<found_mailbox> choose_mailbox(const inquiry& q) noexcept;
    [[nodiscard]] result<void> adjust(const inquiry& q, found_mailbox& m) const noexcept;
    [[nodiscard]] static result<void> verify(const inquiry& q, const found_mailbox& m) noexcept;

    memory_source& memory_;
    const dispatch_rules rules_;
    const std::uint32_t chunk_size_;

    port::mutex mutex_;
    // Under the lock.
    std::uint32_t bucket_count_;
    std::uint32_t node_count_ = 0;
    node** buckets_ = nullptr;
    chunk* chunks_ = nullptr;
    std::size_t chunk_used_ = 0;
    dispatcher_node* last_dispatcher_ = nullptr;
    std::uint32_t dispatcher_count_ = 0;
    std::uint64_t resolve_count_ = 0;
    bool has_deployments_ = false;
    bool has_patterns_ = false;             // of deployments
    port::atomic<std::uint32_t> plain_{0};  // written under the lock
};

}  // namespace tactus::inline v0
