// SPDX-License-Identifier: Apache-2.0
//
// Path labels: which actors are measured by name, chosen by their paths (OH-2).
//
//     constexpr std::string_view chosen[] = {"/user/orders", "/user/payment/**"};
//     path_labels labels(system.world(), chosen);
//     system.world().kernel().set_metrics_sink(&sink, &labels);
//
// The paths are as those of deployments: a whole one names one actor, `*` stands for one name, `**`
// at the end for everything below. The label is the path without the system's name, cut at what a
// label has room for.
//
// Thread safety: any thread; constant after construction.
#pragma once

#include <span>
#include <string_view>

#include <tactus/actor/actor_world.hpp>
#include <tactus/dispatch/metrics.hpp>

namespace tactus::inline v0 {

class path_labels final : public actor_labels {
public:
    /// Both outlive this, and so do the texts.
    path_labels(actor_world& world, std::span<const std::string_view> paths) noexcept
        : world_(world), paths_(paths) {}

    [[nodiscard]] std::string_view label_of(mailbox_index who,
                                            std::span<char> room) noexcept override;

private:
    actor_world& world_;
    std::span<const std::string_view> paths_;
};

}  // namespace tactus::inline v0
