// SPDX-License-Identifier: Apache-2.0
//
// The umbrella: all public headers of Tactus, for programs that prefer one include to many. Link
// tactus::tactus.
//
// For users only; the project's own code includes what it needs (tools/tidy sees to both). What
// needs an operating system is left out where the platform has none.
#pragma once

#include <tactus/actor/actor_name.hpp>
#include <tactus/actor/cancel_context.hpp>
#include <tactus/base/bitmap.hpp>
#include <tactus/base/check.hpp>
#include <tactus/base/det_hasher.hpp>
#include <tactus/base/det_rng.hpp>
#include <tactus/base/intrusive_list.hpp>
#include <tactus/base/memory_region.hpp>
#include <tactus/base/memory_source.hpp>
#include <tactus/base/random_streams.hpp>
#include <tactus/base/saturating.hpp>
#include <tactus/base/slab.hpp>
#include <tactus/base/version.hpp>
#include <tactus/dispatch/actor_scheduler.hpp>
#include <tactus/dispatch/behaviour.hpp>
#include <tactus/dispatch/builtin_mailboxes.hpp>
#include <tactus/dispatch/certificates.hpp>
#include <tactus/dispatch/coordinator.hpp>
#include <tactus/dispatch/dispatch_rules.hpp>
#include <tactus/dispatch/dispatcher.hpp>
#include <tactus/dispatch/dispatcher_config.hpp>
#include <tactus/dispatch/dispatcher_entry.hpp>
#include <tactus/dispatch/dump.hpp>
#include <tactus/dispatch/entry_queue.hpp>
#include <tactus/dispatch/events.hpp>
#include <tactus/dispatch/executor.hpp>
#include <tactus/dispatch/governor.hpp>
#include <tactus/dispatch/guarded_user.hpp>
#include <tactus/dispatch/hub.hpp>
#include <tactus/dispatch/idle_workers.hpp>
#include <tactus/dispatch/inline_tick.hpp>
#include <tactus/dispatch/invoke_result.hpp>
#include <tactus/dispatch/invoker.hpp>
#include <tactus/dispatch/lab_driver.hpp>
#include <tactus/dispatch/lane.hpp>
#include <tactus/dispatch/lane_heap.hpp>
#include <tactus/dispatch/lane_set.hpp>
#include <tactus/dispatch/lent_workers.hpp>
#include <tactus/dispatch/metrics.hpp>
#include <tactus/dispatch/middleware.hpp>
#include <tactus/dispatch/offer.hpp>
#include <tactus/dispatch/parker.hpp>
#include <tactus/dispatch/placement.hpp>
#include <tactus/dispatch/registry.hpp>
#include <tactus/dispatch/resolve_error.hpp>
#include <tactus/dispatch/resolver.hpp>
#include <tactus/dispatch/run_ring.hpp>
#include <tactus/dispatch/sent.hpp>
#include <tactus/dispatch/slot.hpp>
#include <tactus/dispatch/spawn_options.hpp>
#include <tactus/dispatch/suspension_records.hpp>
#include <tactus/dispatch/suspensions.hpp>
#include <tactus/dispatch/system_table.hpp>
#include <tactus/dispatch/ticket.hpp>
#include <tactus/dispatch/timer_phase.hpp>
#include <tactus/dispatch/turn.hpp>
#include <tactus/dispatch/waker.hpp>
#include <tactus/dispatch/worker.hpp>
#include <tactus/dispatch/worker_lanes.hpp>
#include <tactus/dispatch/worker_task.hpp>
#include <tactus/mailbox/depot.hpp>
#include <tactus/mailbox/envelope.hpp>
#include <tactus/mailbox/envelope_pool.hpp>
#include <tactus/mailbox/inbox.hpp>
#include <tactus/mailbox/mailbox.hpp>
#include <tactus/mailbox/mailbox_block.hpp>
#include <tactus/mailbox/mailbox_gate.hpp>
#include <tactus/mailbox/mailbox_index.hpp>
#include <tactus/mailbox/mailbox_options.hpp>
#include <tactus/mailbox/message_type.hpp>
#include <tactus/mailbox/state_engine.hpp>
#include <tactus/mailbox/state_table.hpp>
#include <tactus/mailbox/state_word.hpp>
#include <tactus/mailbox/system_message.hpp>
#include <tactus/mailbox/system_queue.hpp>
#include <tactus/mailbox/user_queue.hpp>
#include <tactus/port/plain_edge.hpp>
#include <tactus/port/port.hpp>
#include <tactus/time/clock.hpp>
#include <tactus/time/instant.hpp>
#include <tactus/time/manual_clock.hpp>
#include <tactus/time/tick_scale.hpp>
#include <tactus/time/tick_source.hpp>
#include <tactus/time/timer_error.hpp>
#include <tactus/time/timer_wheel.hpp>

#if __has_include(<tactus/runtime/steady_clock.hpp>)
#include <tactus/runtime/blocking_section.hpp>
#include <tactus/runtime/calling_thread.hpp>
#include <tactus/runtime/dispatcher_threads.hpp>
#include <tactus/runtime/dispatchers.hpp>
#include <tactus/runtime/heap_memory.hpp>
#include <tactus/runtime/housekeeper.hpp>
#include <tactus/runtime/scheduler_memory.hpp>
#include <tactus/runtime/steady_clock.hpp>
#include <tactus/runtime/timer_memory.hpp>
#include <tactus/runtime/virtual_memory.hpp>
#include <tactus/runtime/work_stealing_pool.hpp>
#endif

#if __has_include(<tactus/config/settings.hpp>)
#include <tactus/config/settings.hpp>
#endif
