// SPDX-License-Identifier: Apache-2.0
//
// The umbrella: all public headers of Tactus, for programs that prefer one include to many. Link
// tactus::tactus.
//
// For users only; the project's own code includes what it needs (tools/tidy sees to both). What
// needs an operating system is left out where the platform has none.
#pragma once

#include <tactus/base/bitmap.hpp>
#include <tactus/base/check.hpp>
#include <tactus/base/det_hasher.hpp>
#include <tactus/base/det_rng.hpp>
#include <tactus/base/intrusive_list.hpp>
#include <tactus/base/memory_region.hpp>
#include <tactus/base/memory_source.hpp>
#include <tactus/base/saturating.hpp>
#include <tactus/base/slab.hpp>
#include <tactus/base/version.hpp>
#include <tactus/mailbox/depot.hpp>
#include <tactus/mailbox/envelope.hpp>
#include <tactus/mailbox/envelope_pool.hpp>
#include <tactus/mailbox/inbox.hpp>
#include <tactus/mailbox/mailbox.hpp>
#include <tactus/mailbox/mailbox_index.hpp>
#include <tactus/mailbox/message_type.hpp>
#include <tactus/mailbox/state_engine.hpp>
#include <tactus/mailbox/state_table.hpp>
#include <tactus/mailbox/state_word.hpp>
#include <tactus/mailbox/system_message.hpp>
#include <tactus/mailbox/system_queue.hpp>
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
#include <tactus/runtime/steady_clock.hpp>
#include <tactus/runtime/timer_memory.hpp>
#include <tactus/runtime/virtual_memory.hpp>
#endif
