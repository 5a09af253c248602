#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Turns vectors.json into C++ tables, so that bare-metal images can use them without a JSON parser.

usage: generate_vectors.py vectors.json out.hpp
"""
import json
import sys

source, target = sys.argv[1:]
vectors = json.load(open(source))
out = ["// Generated from vectors.json by generate_vectors.py.", "#pragma once", "", "#include <cstdint>", "",
       "namespace tactus_test::vectors {", ""]


def number(text):
    return int(text, 16) if isinstance(text, str) else text


def array(name, ctype, values):
    out.append(f"inline constexpr {ctype} {name}[] = {{{', '.join(values)}}};")


def u64(values):
    return [f"{number(v):#x}u" for v in values]


# det_rng
rows = vectors["det_rng_next_u64"]
out.append("struct rng_row { std::uint64_t seed; std::uint64_t next[16]; };")
array("rng_next", "rng_row", [f"{{{number(r['seed']):#x}u, {{{', '.join(u64(r['next_u64']))}}}}}" for r in rows])
assert all(len(r["next_u64"]) == 16 for r in rows)
rows = vectors["det_rng_next_usize"]
out.append("struct below_row { std::uint64_t seed; std::uint64_t bound; std::uint64_t next[16]; };")
array("rng_below", "below_row",
      [f"{{{number(r['seed']):#x}u, {number(r['bound'])}u, {{{', '.join(u64(r['next_usize']))}}}}}" for r in rows])
assert all(len(r["next_usize"]) == 16 for r in rows)
row = vectors["det_rng_rejection"]
out.append(f"inline constexpr std::uint64_t rejection_seed = {number(row['seed'])}u;")
out.append(f"inline constexpr std::uint64_t rejection_bound = {number(row['bound']):#x}u;")
array("rejection_outputs", "std::uint64_t", u64(row["outputs"]))
array("rejection_draws", "unsigned", [str(n) for n in row["draws_per_output"]])
row = vectors["det_rng_misc_seed42"]
array("misc_next_u32", "std::uint32_t", u64(row["next_u32"]))
array("misc_next_bool", "bool", ["true" if b else "false" for b in row["next_bool"]])
array("misc_fill_bytes", "std::uint8_t", [str(b) for b in row["fill_bytes_13"]])
array("misc_shuffle", "int", [str(b) for b in row["shuffle_0_9"]])

# det_hasher: the bytes fed, and the hash
out.append("struct hash_row { unsigned count; std::uint8_t bytes[16]; std::uint64_t hash; };")


def fed(text):
    if text == "01 then 15x00":
        return [1] + [0] * 15
    return list(bytes.fromhex(text.replace(" ", "")))


hashes = []
for r in vectors["det_hasher"]:
    data = fed(r["bytes_fed"])
    hashes.append(f"{{{len(data)}, {{{', '.join(map(str, data))}}}, {number(r['hash']):#x}u}}")
array("hasher", "hash_row", hashes)

# certificates: twelve fields in the order they are hashed, whether they hold, and the witness
FIELDS = ["base_limit", "effective_limit", "observed_max_cancel_streak", "cancel_dispatches", "timed_dispatches",
          "ready_dispatches", "fairness_yields", "fallback_cancel_dispatches", "base_limit_exceedances",
          "effective_limit_exceedances", "adaptive_enabled", "adaptive_current_limit"]
out.append("struct witness_row { std::uint64_t fields[12]; bool holds; std::uint64_t hash; };")


def witness(row):
    fields = ", ".join(f"{int(row[f]):#x}u" for f in FIELDS)
    return f"{{{{{fields}}}, {'true' if row['invariant_holds'] else 'false'}, {number(row['witness_hash']):#x}u}}"


array("witness", "witness_row", [witness(r) for r in vectors["witness_hash_baseline"]])
# the later layout, which has four fields more; the other twelve are not said there (see docs/determinism.md)
out.append("struct later_witness_row { std::uint64_t ready_stall, timed_stall, inversions; std::uint8_t gap; "
           "bool holds; std::uint64_t hash; };")
array("later_witness", "later_witness_row",
      [f"{{{r['ready_stall']}, {r['timed_stall']}, {r['inversions']}, {r['gap']}, "
       f"{'true' if r['holds'] else 'false'}, {number(r['hash']):#x}u}}"
       for r in vectors["witness_hash_head_layout_with_fixed_lab_seed"]])
out.append("struct schedule_row { std::uint32_t slot, generation; std::uint8_t lane; std::uint64_t step, hash; };")
array("schedule", "schedule_row",
      [f"{{{r['task_index']}, {r['task_generation']}, {r['lane'].split('=')[1]}, {r['step']}, "
       f"{number(r['hash_after']):#x}u}}" for r in vectors["schedule_certificate"]])

# lane traces in which nothing is drawn: the order is that of the default mode too
for t in vectors["worker_next_task_traces_baseline"] + vectors["certificate_scenarios_from_source_tests"]:
    if t["name"] in ("cancel_streak_4", "cancel_only_fallback_4", "meet_deadlines", "own_test_cert_12c_6r_limit4",
                     "own_test_default16_20c_1r"):
        out.append(f"inline constexpr witness_row witness_of_{t['name']} = {witness(t['certificate'])};")

# lanes in parity mode: what each call gives, the certificate at the end, and the next draw
LANES = {"cancel": 0, "timed": 1, "ready": 2, "fallback_cancel": 3, "none": 4}
out += ["", "struct lane_step { int task; std::uint8_t lane; unsigned streak; };  // task -1, lane 4: nothing",
        "struct lane_trace { const char* name; unsigned limit; bool meet_deadlines; unsigned count; "
        "const lane_step* steps; witness_row certificate; std::uint64_t next_draw; };"]
names = []
for t in vectors["worker_next_task_traces_baseline"] + vectors["certificate_scenarios_from_source_tests"]:
    steps = t["trace_task_lane_streakafter"]
    assert t["suggestion"] in ("NoPreference", "MeetDeadlines")
    array(f"steps_{t['name']}", "lane_step",
          [f"{{{-1 if task is None else task}, {LANES[lane]}, {streak}}}" for task, lane, streak in steps])
    meets = "true" if t["suggestion"] == "MeetDeadlines" else "false"
    names.append(f"{{\"{t['name']}\", {t['cancel_streak_limit']}, {meets}, {len(steps)}, steps_{t['name']}, "
                 f"{witness(t['certificate'])}, {number(t['rng_next_u64_after']):#x}u}}")
array("lane_traces", "lane_trace", names)
out.append("struct draws_row { const char* path; unsigned workers, draws; int task; };")
array("draws", "draws_row",
      [f"{{\"{r['path']}\", {r['workers']}, {r['draws']}, {-1 if r['task'] is None else r['task']}}}"
       for r in vectors["rng_draws_per_next_task_path_baseline"]])
out.append("struct drain_row { std::uint8_t lane; std::uint64_t seed; unsigned count; std::uint8_t order[8]; };")
array("drains", "drain_row",
      [f"{{{LANES[r['lane']]}, {r['seed']}, {r['tasks']}, {{{', '.join(map(str, r['order']))}}}}}"
       for r in vectors["tie_break_drain_orders"]])
out.append("struct tie_row { std::uint64_t hint, count, index; };")
array("ties", "tie_row",
      [f"{{{number(r['hint']):#x}u, {r['count']}, {r['index']}}}" for r in vectors["tie_break_index"]])
out.append("struct scan_row { std::uint32_t worker, workers, start[6]; std::uint8_t victims[6][7]; };")
scans = []
for r in vectors["steal_scan_order_fresh_rng"]:
    assert len(r["scans"]) == 6
    starts = ", ".join(str(s["start"]) for s in r["scans"])
    victims = ", ".join(f"{{{', '.join(map(str, s['victim_worker']))}}}" for s in r["scans"])
    scans.append(f"{{{r['worker']}, {r['workers']}, {{{starts}}}, {{{victims}}}}}")
array("scans", "scan_row", scans)
out.append("struct turn { std::uint8_t worker; int task; };")
out.append("struct turns_row { unsigned workers, count; const turn* turns; std::uint64_t witness[4], next_draw[4]; };")
names = []
for r in vectors["multi_worker_round_robin_baseline"]:
    name = f"turns_of_{r['workers']}"
    array(name, "turn", [f"{{{w}, {-1 if task is None else task}}}" for w, task in r["trace_worker_task"]])
    assert "12 ready tasks 0..11 prio 100 in worker 0" in r["setup"]
    names.append(f"{{{r['workers']}, {len(r['trace_worker_task'])}, {name}, {{{', '.join(u64(r['witness']))}}}, "
                 f"{{{', '.join(u64(r['rng_next_u64_after']))}}}}}")
array("round_robin", "turns_row", names)
out.append("struct lab_step { std::uint64_t step; std::uint8_t worker; int task; std::uint8_t lane; };")
out.append("struct lab_row { std::uint64_t seed; unsigned workers, tasks, count; const lab_step* steps; "
           "std::uint64_t certificate; };")
names = []
for r in vectors["lab_scheduler_traces_baseline"]:
    name = f"lab_{r['seed']}_{r['workers']}"
    steps = r["trace_step_worker_task_lane"]
    array(name, "lab_step", [f"{{{step}, {worker}, {task}, {dict(Ready=2, Stolen=3)[lane]}}}"
                             for step, worker, task, lane in steps])
    names.append(f"{{{r['seed']}, {r['workers']}, {r['tasks']}, {len(steps)}, {name}, "
                 f"{number(r['schedule_certificate']):#x}u}}")
array("lab", "lab_row", names)

# timer wheel traces
out += ["", "enum class op : std::uint8_t { insert, cancel, advance, next_deadline, end };",
        "struct trace_op {", "    op what;", "    std::uint8_t timer;        // insert, cancel",
        "    std::uint64_t ns;          // insert: deadline; advance: now; next_deadline: the tick",
        "    bool expect;               // insert: accepted; cancel: true", "    std::uint8_t fired_count;  // advance",
        "    std::uint8_t fired[8];", "    unsigned live;", "};",
        "struct trace { const char* name; std::uint64_t tick_ns, start_ns, max_wheel_ns, max_timer_ns; "
        "const trace_op* ops; };"]
names = []
for t in vectors["timer_wheel_traces"]:
    ops = []
    for o in t["ops"]:
        if o["op"] == "register":
            assert o.get("expect") in (None, "duration_exceeded")
            accepted = "false" if "expect" in o else "true"
            ops.append(f"{{op::insert, {o['timer']}, {o['deadline_ns']}u, {accepted}, 0, {{}}, 0}}")
        elif o["op"] == "cancel":
            ops.append(f"{{op::cancel, {o['timer']}, 0, {'true' if o['expect'] else 'false'}, 0, {{}}, 0}}")
        elif o["op"] == "next_deadline":
            ops.append(f"{{op::next_deadline, 0, {o['expect_tick']}u, true, 0, {{}}, 0}}")
        elif o["op"] == "advance":
            fired = ", ".join(map(str, o["fired"]))
            ops.append(f"{{op::advance, 0, {o['now_ns']}u, true, {len(o['fired'])}, {{{fired}}}, {o['live']}}}")
        else:
            raise SystemExit(f"unknown operation {o['op']}")
    ops.append("{op::end, 0, 0, true, 0, {}, 0}")
    array(f"ops_{t['name']}", "trace_op", ops)
    names.append(f"{{\"{t['name']}\", {t['tick_ns']}u, {t['start_ns']}u, {t['max_wheel_ns'] or 0}u, "
                 f"{t['max_timer_ns']}u, ops_{t['name']}}}")
array("traces", "trace", names)
out += ["", "}  // namespace tactus_test::vectors", ""]
text = "\n".join(out)
open(target, "w").write(text)
