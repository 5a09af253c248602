// SPDX-License-Identifier: Apache-2.0
//
// The receptionist: one list, which it looks through; services are few, and change seldom.
#include <tactus/actor/receptionist.hpp>

#include <tactus/dispatch/text_buffer.hpp>

#include <new>

namespace tactus::inline v0 {
namespace {

class receptionist : public actor<service_change, service_question> {
public:
    receptionist() noexcept : memory_(context().world().memory()) {}
    receptionist(const receptionist&) = delete;
    receptionist& operator=(const receptionist&) = delete;
    ~receptionist() {
        while (first_ != nullptr)
            remove(&first_);
    }

    void on(const service_change& m) {
        entry** found = find(m.id, m.who, nullptr);
        if (m.what == service_change::kind::remove) {
            if (*found == nullptr)
                return;
            remove(found);
            leave(m.who);
            tell_change(m.id);
        } else if (*found == nullptr && m.who && add(m.id, m.who, nullptr)) {
            tell_change(m.id);
        }
    }
    void on(const service_question& m) {
        entry** found = find(m.id, m.to, m.tell);
        switch (m.what) {
        case service_question::kind::find:
            tell(m.to, m.id, m.tell);
            break;
        case service_question::kind::subscribe:
            if (*found == nullptr && m.to && add(m.id, m.to, m.tell))
                tell(m.to, m.id, m.tell);
            break;
        case service_question::kind::unsubscribe:
            if (*found == nullptr)
                break;
            remove(found);
            leave(m.to);
            break;
        }
    }
    void on(const terminated& m) {
        // Who has ended is told nothing, so its subscriptions go first.
        for (entry** at = &first_; *at != nullptr;) {
            if ((*at)->who == m.who && (*at)->tell != nullptr)
                remove(at);
            else
                at = &(*at)->next;
        }
        for (entry** at = &first_; *at != nullptr;) {
            if ((*at)->who != m.who) {
                at = &(*at)->next;
                continue;
            }
            const service_id id = (*at)->id;
            remove(at);
            tell_change(id);
        }
    }

private:
    static constexpr std::size_t services_max = listing<>::refs_max;

    /// S1
    struct entry {
        entry* next;
        service_id id;
        any_ref who;
        listing_teller tell;  // of a subscription; null: it is a service
    };
    /// A pointer to where it is; that is null when there is none.
    [[nodiscard]] entry** find(const service_id& id, any_ref who, listing_teller teller) noexcept {
        entry** at = &first_;
        while (*at != nullptr &&
               ((*at)->who != who || ((*at)->tell == nullptr) != (teller == nullptr) ||
                !((*at)->id == id)))
            at = &(*at)->next;
        return at;
    }
    /// False: it is refused.
    bool add(const service_id& id, any_ref who, listing_teller teller) noexcept {
        if (context().world().is_foreign(who.index())) {  // S2
            context().log().error("the receptionist takes no actors of another system");
            return false;
        }
        entry** last = &first_;
        std::size_t services = 0;
        for (; *last != nullptr; last = &(*last)->next)
            services += (*last)->tell == nullptr && (*last)->id == id ? 1U : 0U;
        void* block = teller == nullptr && services == services_max
                          ? nullptr
                          : memory_.allocate(sizeof(entry), alignof(entry));
        if (block == nullptr) {
            text_buffer<120> text;
            text.add("no room for one more at the key '").add(id.name).add("'");
            context().log().error(text.view());
            return false;
        }
        *last = ::new (block) entry{nullptr, id, who, teller};
        context().watch(who);  // S2
        return true;
    }
    void remove(entry** at) noexcept {
        entry* gone = *at;
        *at = gone->next;
        memory_.release(gone, sizeof *gone, alignof(entry));
    }
    /// S2, of who is perhaps not in the list any more.
    void leave(any_ref who) {
        for (const entry* e = first_; e != nullptr; e = e->next) {
            if (e->who == who)
                return;
        }
        context().unwatch(who);
    }
    void tell_change(const service_id& id) {
        for (const entry* e = first_; e != nullptr; e = e->next) {
            if (e->tell != nullptr && e->id == id)
                tell(e->who, id, e->tell);
        }
    }
    void tell(any_ref to, const service_id& id, listing_teller how) {
        any_ref all[services_max];
        std::size_t count = 0;
        for (const entry* e = first_; e != nullptr; e = e->next) {
            if (e->tell == nullptr && e->id == id)
                all[count++] = e->who;
        }
        how(to, id.name, {all, count});
    }

    memory_source& memory_;
    entry* first_ = nullptr;
};

}  // namespace

receptionist_ref receptionist_of(actor_world& world) noexcept {
    constexpr std::string_view path = "/system/receptionist";
    if (const mailbox_index known = world.find(path); known.valid())
        return receptionist_ref(any_ref(known));
    const auto made = world.spawn_system(
        {.type = &actor_type_of<receptionist>(), .name = path.substr(path.rfind('/') + 1)});
    // Somebody else may have been faster.
    return receptionist_ref(any_ref(made ? *made : world.find(path)));
}

}  // namespace tactus::inline v0
