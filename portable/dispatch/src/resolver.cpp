// SPDX-License-Identifier: Apache-2.0
//
// One hash table of named nodes, a category each; memory in chunks that are never freed singly.
#include <tactus/dispatch/resolver.hpp>

#include "resolver_nodes.hpp"

#include <tactus/dispatch/path_pattern.hpp>

#include <algorithm>
#include <new>

namespace tactus::inline v0 {

namespace {

using kind = resolve_error::kind;

std::unexpected<resolve_error> refuse(kind what,
                                      std::initializer_list<std::string_view> parts) noexcept {
    return std::unexpected(resolve_error(what, parts));
}

// FNV-1a: short names, and the same numbers everywhere.
std::uint32_t hash_of(unsigned category, std::string_view name) noexcept {
    std::uint32_t h = 2'166'136'261u ^ category;
    for (const char c : name)
        h = (h ^ static_cast<unsigned char>(c)) * 16'777'619u;
    return h;
}

}  // namespace

const char* name_of(system_preset preset) noexcept {
    static constexpr const char* names[system_preset_count] = {"tactus", "pekko"};
    return names[static_cast<std::size_t>(preset)];
}

const char* name_of(chosen_by who) noexcept {
    static constexpr const char* names[chosen_by_count] = {
        "props",   "deployment", "dispatcher", "actor_requirement", "dispatcher_requirement",
        "fallback"};
    return names[static_cast<std::size_t>(who)];
}

resolver::resolver(const options& o) noexcept
    : memory_(*o.memory),
      rules_(o.rules),
      chunk_size_(o.chunk_size),
      bucket_count_(o.bucket_count) {
    TACTUS_CHECK(1, bucket_count_ != 0 && (bucket_count_ & (bucket_count_ - 1)) == 0);
    void* block = memory_.allocate(bucket_count_ * sizeof(node*), alignof(node*));
    TACTUS_CHECK(2, block != nullptr);
    buckets_ = ::new (block) node* [bucket_count_] {};
    for (const std::string_view id :
         {default_dispatcher_id, internal_dispatcher_id, blocking_dispatcher_id})
        TACTUS_CHECK(3, insert_dispatcher(id, builtin_dispatcher_config(id)).has_value());
    TACTUS_CHECK(4, insert_mailbox(default_mailbox_id, {}).has_value());
    note_plain();
}

resolver::~resolver() {
    while (chunks_ != nullptr) {
        chunk* next = chunks_->next;
        memory_.release(chunks_, chunks_->size, alignof(chunk));
        chunks_ = next;
    }
    memory_.release(buckets_, bucket_count_ * sizeof(node*), alignof(node*));
}

// ---- memory and table

void* resolver::take(std::size_t size, std::size_t alignment) noexcept {
    static_assert(alignof(chunk) >= alignof(dispatcher_node));
    static_assert(alignof(chunk) >= alignof(mailbox_node));
    std::size_t at = (chunk_used_ + alignment - 1) & ~(alignment - 1);
    if (chunks_ == nullptr || at + size > chunks_->size) {
        at = sizeof(chunk);
        const std::size_t wanted = std::max<std::size_t>(chunk_size_, at + size);
        void* block = memory_.allocate(wanted, alignof(chunk));
        if (block == nullptr)
            return nullptr;
        chunks_ = ::new (block) chunk{chunks_, wanted};
    }
    chunk_used_ = at + size;
    return reinterpret_cast<std::byte*>(chunks_) + at;
}

const char* resolver::keep(std::string_view first, std::string_view second) noexcept {
    if (first.empty() && second.empty())
        return "";
    auto* copy = static_cast<char*>(take(first.size() + second.size(), 1));
    if (copy != nullptr)
        std::ranges::copy(second, std::ranges::copy(first, copy).out);
    return copy;
}

void resolver::link(node& n) noexcept {
    n.hash = hash_of(static_cast<unsigned>(n.what), n.name);
    if (++node_count_ / nodes_per_bucket > bucket_count_)
        grow();
    push(n);
}

void resolver::push(node& n) noexcept {
    node*& bucket = buckets_[n.hash & (bucket_count_ - 1)];
    n.next = bucket;
    bucket = &n;
}

void resolver::grow() noexcept {
    const std::uint32_t old_count = bucket_count_;
    void* block = memory_.allocate(2 * old_count * sizeof(node*), alignof(node*));
    if (block == nullptr)
        return;  // Longer chains are slower, and nothing else.
    node** const old = buckets_;
    bucket_count_ = 2 * old_count;
    buckets_ = ::new (block) node* [bucket_count_] {};
    for (std::uint32_t i = 0; i < old_count; ++i) {
        while (old[i] != nullptr) {
            node& n = *old[i];
            old[i] = n.next;
            push(n);
        }
    }
    memory_.release(old, old_count * sizeof(node*), alignof(node*));
}

void resolver::note_plain() noexcept {
    const auto* d = find_as<dispatcher_node>(category::dispatcher, default_dispatcher_id);
    const auto* m = find_as<mailbox_node>(category::mailbox, default_mailbox_id);
    const bool plain = !has_deployments_ && m->options == mailbox_options{} &&
                       d->entry.config().mailbox.empty() &&
                       d->entry.config().mailbox_requirement.without(capability::mpsc).empty();
    plain_.store(plain ? 1 : 0, std::memory_order_relaxed);
}

resolver::node* resolver::find(category c, std::string_view name) const noexcept {
    const std::uint32_t hash = hash_of(static_cast<unsigned>(c), name);
    for (node* n = buckets_[hash & (bucket_count_ - 1)]; n != nullptr; n = n->next) {
        if (n->hash == hash && n->what == c && n->name == name)
            return n;
    }
    return nullptr;
}

// ---- adding

resolver::result<void> resolver::may_add_entry(category c, std::string_view id) const noexcept {
    if (id.empty() || id.size() > id_size_max)
        return refuse(kind::invalid_id, {"an id has 1 to 100 characters, not '", id, "'"});
    if (find(category::alias, id) != nullptr)
        return refuse(kind::alias_conflicts_with_entry, {"'", id, "' is an alias already"});
    if (find(c, id) != nullptr)
        return refuse(kind::duplicate, {"'", id, "' is there already"});
    if (c == category::mailbox && is_reserved_mailbox(id))
        return refuse(kind::duplicate, {"mailbox '", id, "' is built in"});
    return {};
}

resolver::result<void> resolver::insert_dispatcher(std::string_view id,
                                                   const dispatcher_config& config) noexcept {
    if (auto allowed = may_add_entry(category::dispatcher, id); !allowed)
        return allowed;
    const char* text = keep(id, config.mailbox);
    void* block =
        text == nullptr ? nullptr : take(sizeof(dispatcher_node), alignof(dispatcher_node));
    if (block == nullptr)
        return refuse(kind::full, {"no memory for dispatcher '", id, "'"});
    dispatcher_config kept = config;
    kept.mailbox = {text + id.size(), config.mailbox.size()};
    auto* n = ::new (block) dispatcher_node(std::string_view(text, id.size()), dispatcher_count_,
                                            kept, rules_.throughput);
    n->previous = last_dispatcher_;
    last_dispatcher_ = n;
    ++dispatcher_count_;
    link(*n);
    return {};
}

resolver::result<void> resolver::insert_mailbox(std::string_view id,
                                                const mailbox_options& wanted) noexcept {
    if (auto allowed = may_add_entry(category::mailbox, id); !allowed)
        return allowed;
    if (wanted.capacity == 0)
        return refuse(kind::capacity_zero, {"mailbox '", id, "' has a capacity of 0"});
    const char* text = keep(id);
    void* block = text == nullptr ? nullptr : take(sizeof(mailbox_node), alignof(mailbox_node));
    if (block == nullptr)
        return refuse(kind::full, {"no memory for mailbox '", id, "'"});
    link(*::new (block) mailbox_node({text, id.size()}, wanted));
    return {};
}

resolver::result<void> resolver::insert_reference(category c, std::string_view name,
                                                  std::string_view first,
                                                  std::string_view second) noexcept {
    const char* kept_name = keep(name);
    const char* text = kept_name == nullptr ? nullptr : keep(first, second);
    void* block = text == nullptr ? nullptr : take(sizeof(reference_node), alignof(reference_node));
    if (block == nullptr)
        return refuse(kind::full, {"no memory for '", name, "'"});
    link(*::new (block) reference_node(c, {kept_name, name.size()}, {text, first.size()},
                                       {text + first.size(), second.size()}));
    return {};
}

resolver::result<void> resolver::add_dispatcher(std::string_view id,
                                                const dispatcher_config& config) noexcept {
    const port::lock_guard held(mutex_);
    return insert_dispatcher(id, config);
}

resolver::result<void> resolver::add_mailbox(std::string_view id,
                                             const mailbox_options& wanted) noexcept {
    const port::lock_guard held(mutex_);
    return insert_mailbox(id, wanted);
}

resolver::result<void> resolver::add_alias(std::string_view alias,
                                           std::string_view target) noexcept {
    const port::lock_guard held(mutex_);
    for (const std::string_view id : {alias, target}) {
        if (id.empty() || id.size() > id_size_max)
            return refuse(kind::invalid_id, {"an id has 1 to 100 characters, not '", id, "'"});
    }
    if (find(category::alias, alias) != nullptr)
        return refuse(kind::duplicate, {"alias '", alias, "' is there already"});
    if (find(category::dispatcher, alias) != nullptr || find(category::mailbox, alias) != nullptr ||
        is_reserved_mailbox(alias))
        return refuse(kind::alias_conflicts_with_entry,
                      {"alias '", alias, "' has the id of an entry"});
    return insert_reference(category::alias, alias, target, {});
}

resolver::result<void> resolver::add_deployment(std::string_view path,
                                                const deployment& d) noexcept {
    const port::lock_guard held(mutex_);
    if (path.empty() || path.size() > path_size_max)
        return refuse(kind::invalid_id, {"a path has 1 to 1000 characters, not '", path, "'"});
    if (find(category::deployment, path) != nullptr)
        return refuse(kind::duplicate, {"a deployment for '", path, "' is there already"});
    if (path.find("/**/") != std::string_view::npos)
        return refuse(kind::invalid_id,
                      {"'**' is the last name of a path, not as in '", path, "'"});
    auto done = insert_reference(category::deployment, path, d.dispatcher, d.mailbox);
    if (done) {
        has_deployments_ = true;
        has_patterns_ = has_patterns_ || is_path_pattern(path);
        note_plain();
    }
    return done;
}

resolver::result<void> resolver::map_requirement(capability_set required,
                                                 std::string_view mailbox) noexcept {
    const port::lock_guard held(mutex_);
    const requirement_name name(required);
    if (find(category::requirement, name.text()) != nullptr) {
        resolve_error e(kind::duplicate, {"the requirement "});
        e.add(required);
        e.add(" is mapped already");
        return std::unexpected(e);
    }
    return insert_reference(category::requirement, name.text(), mailbox, {});
}

resolver::result<void> resolver::replace_dispatcher(std::string_view id,
                                                    const dispatcher_config& config) noexcept {
    const port::lock_guard held(mutex_);
    auto* n = find_as<dispatcher_node>(category::dispatcher, id);
    if (n == nullptr)
        return refuse(kind::unknown_dispatcher, {"unknown dispatcher '", id, "'"});
    if (n->entry.handed_out_)
        return refuse(kind::in_use, {"dispatcher '", id, "' is in use"});
    const char* text = keep(config.mailbox);
    if (text == nullptr)
        return refuse(kind::full, {"no memory for dispatcher '", id, "'"});
    dispatcher_config kept = config;
    kept.mailbox = {text, config.mailbox.size()};
    n->entry.configure(kept, rules_.throughput);
    note_plain();
    return {};
}

resolver::result<void> resolver::replace_mailbox(std::string_view id,
                                                 const mailbox_options& wanted) noexcept {
    const port::lock_guard held(mutex_);
    auto* n = find_as<mailbox_node>(category::mailbox, id);
    if (n == nullptr)
        return refuse(kind::unknown_mailbox, {"unknown mailbox '", id, "'"});
    if (n->handed_out)
        return refuse(kind::in_use, {"mailbox '", id, "' is in use"});
    if (wanted.capacity == 0)
        return refuse(kind::capacity_zero, {"mailbox '", id, "' has a capacity of 0"});
    n->options = wanted;
    note_plain();
    return {};
}

// ---- what is there

dispatcher_entry* resolver::dispatcher(std::uint32_t number) noexcept {
    const port::lock_guard held(mutex_);
    for (dispatcher_node* n = last_dispatcher_; n != nullptr; n = n->previous) {
        if (n->entry.number_ == number) {
            n->entry.handed_out_ = true;  // R2
            return &n->entry;
        }
    }
    return nullptr;
}

std::uint32_t resolver::dispatcher_count() noexcept {
    const port::lock_guard held(mutex_);
    return dispatcher_count_;
}

std::uint64_t resolver::resolve_count() noexcept {
    const port::lock_guard held(mutex_);
    return resolve_count_;
}

}  // namespace tactus::inline v0
