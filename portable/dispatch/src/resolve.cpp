// SPDX-License-Identifier: Apache-2.0
//
// The order of resolution: aliases, who decides about a mailbox, and whether it will do.
#include "resolver_nodes.hpp"

#include <tactus/dispatch/path_pattern.hpp>
#include <tactus/dispatch/resolver.hpp>

#include <array>
#include <utility>

namespace tactus::inline v0 {

namespace {

using kind = resolve_error::kind;

// DR-2: who is asked about the mailbox, in this order; then it is the default.
constexpr std::array props_first = {
    chosen_by::props,
    chosen_by::deployment,
    chosen_by::dispatcher,
    chosen_by::actor_requirement,
    chosen_by::dispatcher_requirement,
};
// SC-26
constexpr std::array deployment_first = {
    chosen_by::deployment,
    chosen_by::props,
    chosen_by::dispatcher,
    chosen_by::actor_requirement,
    chosen_by::dispatcher_requirement,
};

/// The ids that were seen while following aliases.
class alias_trail {
public:
    explicit alias_trail(std::string_view asked) noexcept { ids_[0] = asked; }

    void follow(std::string_view target) noexcept { ids_[++hops_] = target; }
    [[nodiscard]] std::uint32_t hops() const noexcept { return hops_; }
    [[nodiscard]] std::string_view last() const noexcept { return ids_[hops_]; }
    /// All of them, of a loop once round.
    template <class Each>
    void each_until_again(Each each) const noexcept {
        for (std::uint32_t i = 0; i <= hops_; ++i) {
            each(ids_[i], i == 0);
            for (std::uint32_t earlier = 0; earlier < i; ++earlier) {
                if (ids_[earlier] == ids_[i])
                    return;
            }
        }
    }

private:
    std::array<std::string_view, resolver::alias_depth_max + 2> ids_;
    std::uint32_t hops_ = 0;
};

constexpr std::string_view props_mailbox_id = "(given in props)";

}  // namespace

// ---- ids

resolver::result<std::string_view> resolver::follow_aliases(category c,
                                                            std::string_view id) const noexcept {
    alias_trail trail(id);
    for (;;) {
        const std::string_view last = trail.last();
        if (find(c, last) != nullptr ||
            (c == category::mailbox && builtin_mailbox_options(last).has_value()))
            return last;
        const auto* alias = find_as<reference_node>(category::alias, last);
        if (alias == nullptr) {
            resolve_error e =
                c == category::dispatcher
                    ? resolve_error(kind::unknown_dispatcher, {"unknown dispatcher '", last})
                    : resolve_error(kind::unknown_mailbox, {"unknown mailbox '", last});
            if (trail.hops() != 0) {
                e.add("', by alias '");
                e.add(id);
            }
            e.add("'");
            return std::unexpected(e);
        }
        trail.follow(alias->first);
        if (trail.hops() > alias_depth_max) {
            resolve_error e(kind::alias_chain_too_deep,
                            {"more than 20 aliases, possibly a loop: ", id});
            e.depth_ = alias_depth_max;
            trail.each_until_again([&](std::string_view seen, bool first) {
                if (first)
                    return;
                e.add(" -> ");
                e.add(seen);
            });
            return std::unexpected(e);
        }
    }
}

resolver::result<resolver::dispatcher_node*> resolver::look_up_dispatcher(
    std::string_view id) noexcept {
    const auto last = follow_aliases(category::dispatcher, id);
    if (!last)
        return std::unexpected(last.error());
    return find_as<dispatcher_node>(category::dispatcher, *last);
}

resolver::result<resolver::found_mailbox> resolver::look_up_mailbox(std::string_view id) noexcept {
    const auto last = follow_aliases(category::mailbox, id);
    if (!last)
        return std::unexpected(last.error());
    if (auto* n = find_as<mailbox_node>(category::mailbox, *last))
        return found_mailbox{.id = *last, .options = n->options, .entry = n};
    // There is one: the aliases end at an entry.
    const auto builtin = builtin_mailbox_options(*last).value_or(mailbox_options{});
    if (builtin.capacity == 0)
        return std::unexpected(
            resolve_error(kind::capacity_zero, {"mailbox '", *last, "' has a capacity of 0"}));
    return found_mailbox{.id = *last, .options = builtin};
}

resolver::result<dispatcher_entry*> resolver::resolve_dispatcher(std::string_view id) noexcept {
    const port::lock_guard held(mutex_);
    ++resolve_count_;
    const auto found = look_up_dispatcher(id);
    if (!found)
        return std::unexpected(found.error());
    (*found)->entry.handed_out_ = true;  // R2
    return &(*found)->entry;
}

resolver::result<mailbox_options> resolver::resolve_mailbox(std::string_view id) noexcept {
    const port::lock_guard held(mutex_);
    ++resolve_count_;
    const auto found = look_up_mailbox(id);
    if (!found)
        return std::unexpected(found.error());
    if (found->entry != nullptr)
        found->entry->handed_out = true;  // R2
    return found->options;
}

// ---- an actor

const resolver::reference_node* resolver::find_deployment(std::string_view path) const noexcept {
    if (path.empty())
        return nullptr;
    const auto* best = find_as<reference_node>(category::deployment, path);
    if (best != nullptr || !has_patterns_)
        return best;
    // Patterns are few, and actors are not spawned often: all are looked at. Which one counts does
    // not depend on the order.
    for (std::uint32_t i = 0; i < bucket_count_; ++i) {
        for (const node* n = buckets_[i]; n != nullptr; n = n->next) {
            if (n->what == category::deployment && path_fits(n->name, path) &&
                (best == nullptr || is_more_exact(n->name, best->name)))
                best = static_cast<const reference_node*>(n);
        }
    }
    return best;
}

resolver::result<resolved> resolver::resolve(const resolve_request& request) noexcept {
    const port::lock_guard held(mutex_);
    ++resolve_count_;
    const placement& choice = request.choice;
    const reference_node* deployed = find_deployment(request.path);

    std::string_view by_props = choice.dispatcher;
    std::string_view by_deployment = deployed != nullptr ? deployed->first : std::string_view();
    if (rules_.first == precedence::deployment_first)
        std::swap(by_props, by_deployment);
    const std::string_view id = !by_props.empty()        ? by_props
                                : !by_deployment.empty() ? by_deployment
                                                         : default_dispatcher_id;
    auto dispatcher = look_up_dispatcher(id);
    if (!dispatcher) {
        if (deployed != nullptr && id.data() == deployed->first.data())
            blame(dispatcher.error(), "deployment", deployed->name);
        return std::unexpected(dispatcher.error());
    }

    const inquiry q{.choice = choice,
                    .deployed = deployed,
                    .actor_requires = request.actor_requirement | choice.requirement,
                    .dispatcher = (*dispatcher)->entry};
    auto mailbox = choose_mailbox(q);
    if (!mailbox)
        return std::unexpected(mailbox.error());
    if (const auto adjusted = adjust(q, *mailbox); !adjusted)
        return std::unexpected(adjusted.error());
    if (const auto verified = verify(q, *mailbox); !verified)
        return std::unexpected(verified.error());

    (*dispatcher)->entry.handed_out_ = true;  // R2
    if (mailbox->entry != nullptr)
        mailbox->entry->handed_out = true;
    return resolved{&(*dispatcher)->entry, mailbox->options, mailbox->by};
}

std::string_view resolver::mapped(capability_set required) const noexcept {
    const requirement_name name(required);
    if (const auto* n = find_as<reference_node>(category::requirement, name.text()))
        return n->first;
    for (const builtin_requirement& r : builtin_requirements()) {
        if (requirement_name(r.required).text() == name.text())
            return r.mailbox;
    }
    return {};
}

void resolver::blame(resolve_error& e, std::string_view what, std::string_view name) noexcept {
    for (const std::string_view part : {std::string_view(", which "), what, std::string_view(" '"),
                                        name, std::string_view("' names")})
        e.add(part);
}

resolve_error resolver::unmapped(capability_set required) noexcept {
    resolve_error e(kind::requirement_unmapped, {"no mailbox is known for the requirement "});
    e.add(required);
    e.requirement_ = required;
    return e;
}

resolver::result<resolver::found_mailbox> resolver::choose_mailbox(const inquiry& q) noexcept {
    const capability_set actor_requires = q.actor_requires.without(capability::mpsc);
    const capability_set dispatcher_requires =
        q.dispatcher.config().mailbox_requirement.without(capability::mpsc);
    std::string_view id;
    for (const chosen_by who :
         rules_.first == precedence::props_first ? props_first : deployment_first) {
        switch (who) {
        case chosen_by::props:
            if (q.choice.own_mailbox)
                return found_mailbox{
                    .id = props_mailbox_id, .options = *q.choice.own_mailbox, .by = who};
            id = q.choice.mailbox;
            break;
        case chosen_by::deployment:
            id = q.deployed != nullptr ? q.deployed->second : std::string_view();
            break;
        case chosen_by::dispatcher:
            id = q.dispatcher.config().mailbox;
            break;
        case chosen_by::actor_requirement:
            if (actor_requires.empty())
                continue;
            id = mapped(actor_requires);
            // What the dispatcher requires may do for the actor, too; that is verified.
            if (id.empty() && dispatcher_requires.empty())
                return std::unexpected(unmapped(actor_requires));
            break;
        case chosen_by::dispatcher_requirement:
            if (dispatcher_requires.empty())
                continue;
            id = mapped(dispatcher_requires);
            if (id.empty())
                return std::unexpected(unmapped(dispatcher_requires));
            break;
        case chosen_by::fallback:
            break;
        }
        if (id.empty())
            continue;
        auto found = look_up_mailbox(id);
        if (found)
            found->by = who;
        else if (who == chosen_by::deployment)
            blame(found.error(), "deployment", q.deployed->name);
        else if (who == chosen_by::dispatcher)
            blame(found.error(), "dispatcher", q.dispatcher.id());
        return found;
    }
    return look_up_mailbox(default_mailbox_id);
}

namespace {

/// What is said of any mailbox, over what it has.
template <class T>
void say(T mailbox_options::* field, const placement& choice, mailbox_options& over) noexcept {
    if (choice.fields.*field != mailbox_options{}.*field)
        over.*field = choice.fields.*field;
}

}  // namespace

/// What props say about capacity and overflow holds for whichever mailbox it is; unless the
/// deployment has named one and counts for more.
resolver::result<void> resolver::adjust(const inquiry& q, found_mailbox& m) const noexcept {
    if (rules_.first == precedence::props_first || m.by != chosen_by::deployment) {
        const overflow before = m.options.when_full;
        say(&mailbox_options::when_full, q.choice, m.options);
        m.options.when_full = q.choice.when_full.value_or(m.options.when_full);
        if ((q.choice.when_full || m.options.when_full != before) && !m.options.is_bounded())
            m.options.capacity = mailbox_options::default_capacity;
        say(&mailbox_options::capacity, q.choice, m.options);
        m.options.capacity = q.choice.capacity.value_or(m.options.capacity);
        say(&mailbox_options::pressure_percent, q.choice, m.options);
        say(&mailbox_options::push_timeout, q.choice, m.options);
        say(&mailbox_options::stash_capacity, q.choice, m.options);
    }
    if (m.options.capacity == 0)
        return std::unexpected(
            resolve_error(kind::capacity_zero, {"mailbox '", m.id, "' has a capacity of 0"}));
    return {};
}

/// MB-4, DR-2: whoever has chosen it, a mailbox must be able to do what is required.
resolver::result<void> resolver::verify(const inquiry& q, const found_mailbox& m) noexcept {
    const capability_set able = m.options.capabilities();
    if (!able.has(q.actor_requires)) {
        const capability_set missing = q.actor_requires.without(able);
        resolve_error e(kind::mailbox_capability_missing, {"mailbox '", m.id, "' lacks "});
        e.add(missing);
        e.add(", which the actor requires");
        e.requirement_ = q.actor_requires;
        return std::unexpected(e);
    }
    const capability_set required = q.dispatcher.config().mailbox_requirement;
    if (!able.has(required)) {
        resolve_error e(kind::requirement_mismatch, {"mailbox '", m.id, "' lacks "});
        e.add(required.without(able));
        e.add(", which dispatcher '");
        e.add(q.dispatcher.id());
        e.add("' requires");
        e.requirement_ = required;
        return std::unexpected(e);
    }
    return {};
}

}  // namespace tactus::inline v0
