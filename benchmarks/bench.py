#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the benchmarks, ours and the peers in turn, and prints medians, spread and ratios.

usage: ./bench [SUITE ...] [--quick] [--no-peers] [--rounds N] [--install-peers]
       ./bench --compare BASE.json [RESULTS.json] [--threshold 0.05]
       ./bench --compare | --instructions [--write-baseline]

Suites: timers, kernel, mailboxes, hub, actors, families, scheduler; all of them when none is named.

Each round starts every program once (ours, peer, peer, ours, ...), so that what else the machine does falls on all
alike. The main figure is CPU time per operation; wall time stands beside it. Results go to build/bench/results.json:
a list of {id, suite, case, n, workers, unit, ours, peer, peer_value, ratio, wall, spread}, one entry per peer and one
without; ratio > 1 means ours is better.

--instructions counts instructions under callgrind, with one worker: the counts repeat on any machine. Without a file,
--compare counts them and fails when a case needs more than 2 % more than in benchmarks/baseline.json. A change that is
worth more instructions writes a new baseline in the same commit (--write-baseline).
"""
import argparse
import json
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

root = pathlib.Path(__file__).resolve().parent.parent
build = root / "build" / "bench" / "release"
binaries = build / "benchmarks"
results_file = root / "build" / "bench" / "results.json"
instructions_file = root / "build" / "bench" / "instructions.json"
baseline_file = root / "benchmarks" / "baseline.json"

# A suite: its program, its sizes (all, quick), its peers and the packages that have them.
suites = {
    "timers": {
        "program": "bench_timers",
        "sizes": [1_000, 100_000, 1_000_000, 10_000_000],
        "quick": [1_000, 100_000],
        "peer_rounds": {10_000_000: 1},  # a round of all peers takes six minutes there
        "peers": {"asio": "libboost-dev", "libuv": "libuv1-dev", "priority_queue": None, "multimap": None},
    },
}
suites["kernel"] = {
    "program": "bench_kernel",
    "sizes": [1_000_000],
    "quick": [100_000],
    "workers": [1, 2],
    "peers": {},  # the bare path has none; the suite with actors does
}
suites["mailboxes"] = {
    "program": "bench_mailboxes",
    "sizes": [1_000_000],
    "quick": [100_000],
    "workers": [1, 2],
    "peers": {},  # what is compared is in the program, in turns
}
suites["hub"] = {
    "program": "bench_hub",
    "sizes": [1_000_000],
    "quick": [100_000],
    "workers": [1, 2],
    "peers": {},  # what observing costs ourselves
}
suites["actors"] = {
    "program": "bench_actors",
    "sizes": [1_000_000],
    "quick": [100_000],
    "workers": [1, 2],
    "peers": {"caf": "libcaf-dev", "erlang": "erlang-base", "asio": "libboost-dev"},  # asio: our actors on its threads
    # Peers with programs of their own: the file that is there when the peer is, and how it is started.
    "peer_programs": {
        "caf": ("bench_actors_caf", ["{file}"]),
        "erlang": ("actors_erlang.beam", ["erl", "+S", "{workers}:{workers}", "+P", "4000000", "-noshell",
                                          "-pa", "{folder}", "-run", "actors_erlang", "main"]),
    },
    "targets": {
        ("PF-1", "ping-pong"): {1: 80, 2: 100},
        ("PF-2", "4 producers to 1"): {1: 30, 2: 70},
        ("PF-3", "ring of 503"): {1: 45, 2: 55},
        ("PF-4", "fan-out 1,000 x 1,000"): {1: 60, 2: 90},
        ("PF-5", "random pairs of 64"): {1: 80, 2: 140},
        ("PF-6", "skynet: spawn, reply, end"): {1: 300, 2: 400},
        ("PF-7", "bytes per idle actor"): {1: 256},
        ("PF-10", "hand-off / futex hop, medians"): {1: 1.2, 2: 1.2},
        ("PF-15", "CPU % while idle, 1,000 actors"): {1: 0.05, 2: 0.05},  # 0.0 %
        ("PF-16", "CPU % at 50 messages/s"): {1: 1, 2: 1},
    },
    # How many times as good as a peer, by worker; what is less is marked in the table.
    "ratios": {
        ("PF-1", "caf"): {1: 13, 2: 13},
        ("PF-2", "caf"): {1: 5, 2: 3.5},
        ("PF-3", "caf"): {1: 10, 2: 10},
        ("PF-4", "caf"): {1: 5, 2: 4.5},
        ("PF-5", "caf"): {1: 10, 2: 8},
        ("PF-6", "caf"): {1: 9, 2: 7},
        ("PF-7", "caf"): {1: 4.8},
        ("PF-16", "caf"): {1: 20, 2: 20},
    },
}
suites["families"] = {
    "program": "bench_families",
    "sizes": [100_000],
    "quick": [10_000],
    "workers": [1, 2],
    "peers": {},
    # 2 s for each operation of 10^5 children.
    "targets": {("DF-45", case): {1: 20_000, 2: 20_000}
                for case in ["spawn", "fail, one_for_one", "fail, all_for_one", "watch, end", "stop the parent"]},
}
suites["scheduler"] = {
    "program": "bench_scheduler",
    "sizes": [1_000_000],
    "quick": [100_000],
    "workers": [1, 2],
    "peers": {"caf": "libcaf-dev", "erlang": "erlang-base"},
    "peer_programs": {
        "caf": ("bench_scheduler_caf", ["{file}"]),
        "erlang": ("scheduler_erlang.beam", ["erl", "+S", "{workers}:{workers}", "-noshell", "-pa", "{folder}",
                                             "-run", "scheduler_erlang", "main"]),
    },
    "targets": {
        ("PF-8", "schedule, cancel in random order"): {1: 80, 2: 80},
        ("PF-8", "schedule, cancel in order"): {1: 80, 2: 80},
        ("PF-8", "schedule, cancel at once"): {1: 80, 2: 80},
        ("PF-9", "timers expire over 1 s"): {1: 800, 2: 800},
        ("PF-11", "growth, at once"): {1: 2},
        ("PF-11", "growth, random order"): {1: 2},
        ("PF-14", "lateness / (tick + 1.3 timerfd), median"): {1: 1, 2: 1},
        ("PF-14", "lateness / (tick + 1.3 timerfd), 99 %"): {1: 1, 2: 1},
        ("PF-32", "10,000 on one tick, CPU us"): {1: 2_000, 2: 2_000},
        ("PF-42", "start to first message, us"): {1: 2_000, 2: 2_000},
        ("PF-42", "shutdown when idle, us"): {1: 5_000, 2: 5_000},
    },
    "ratios": {
        ("PF-8", "caf"): {1: 9, 2: 9},
        ("PF-9", "caf"): {1: 6, 2: 6},
    },
}
# What to reach (80-performance), by id, case and n; where a suite has workers, by these instead of n. Reached means
# within 1.3 times on a quiet machine.
targets = {
    ("PF-20", "insert"): {100_000: 6, 1_000_000: 7},
    ("PF-21", "cancel, random order"): {100_000: 6, 1_000_000: 15},
    ("PF-22", "reschedule, random order"): {100_000: 20, 1_000_000: 90},
    ("PF-23", "expire with cascade"): {100_000: 30, 1_000_000: 55},
    ("PF-24", "next deadline"): {1_000: 1, 100_000: 1, 1_000_000: 1, 10_000_000: 1},
    ("PF-25", "bytes per timer"): {100_000: 36, 1_000_000: 36, 10_000_000: 36},
    # The kernel's share of PF-1 … PF-7, as the issue of the kernel asks; the suite with actors has its own.
    ("PF-1", "ping-pong"): {1: 60, 2: 70},
    ("PF-3", "ring of 503"): {1: 35, 2: 45},
    ("PF-2", "4 producers to 1"): {1: 20, 2: 60},
    ("PF-4", "fan-out 1,000 x 1,000"): {1: 45, 2: 80},
    ("PF-5", "random pairs of 64"): {1: 65, 2: 120},
    ("PF-6", "spawn, reply, end"): {1: 200, 2: 350},
    ("PF-7", "bytes per idle slot"): {1: 256},
    ("PF-29", "push + pop, same thread"): {1: 6},
    ("PF-29", "push + pop, across cores"): {2: 8},
    ("PF-30", "system queue push + drain"): {1: 50},
    ("PF-31", "lanes: register + take"): {1: 15},
    ("PF-13", "4:1 bounded, ratio"): {1: 1.5, 2: 1.5},
    ("PF-18", "suspend + resume, busy"): {1: 5_000, 2: 5_000},
    ("PF-32", "lanes of 8 threads, ratio"): {2: 1},
    ("PF-32", "system queue of 4 threads, ratio"): {2: 1},
}
tolerance = 1.3

# What --instructions runs: cases whose work does not depend on time, and the size.
counted = {
    "kernel": (["structures", "ping", "ring", "four", "fan", "pairs", "spawn"], 10_000),
    "actors": (["ping", "four", "ring", "fan", "pairs", "skynet"], 10_000),
    "scheduler": (["cancel"], 10_000),
    "timers": (["overflow"], 10_000),
}


def build_release(targets=("benchmarks",)):
    """-O3 with link-time optimisation, in a folder of its own."""
    log = root / "build" / "log" / "bench-build.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    print(f"building release (log: {log.relative_to(root)})", flush=True)
    configure = ["cmake", "-S", root, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DTACTUS_LTO=ON",
                 "-DTACTUS_BENCH=ON", "-DTACTUS_TESTS=OFF", "-DTACTUS_EXAMPLES=OFF", "-DTACTUS_WERROR=OFF"]
    with log.open("w") as out:
        for command in (configure, ["cmake", "--build", build, "--target", *targets]):
            if subprocess.run(command, stdout=out, stderr=subprocess.STDOUT).returncode != 0:
                sys.exit("\n".join(log.read_text().splitlines()[-30:]) + "\nbench: the build failed")


def run_once(suite, subject, n, workers):
    """One round of one subject: {(id, case): (unit, value, wall)}, or None when this build does not have it."""
    file, command = suite.get("peer_programs", {}).get(subject, (suite["program"], ["{file}"]))
    if not (binaries / file).exists() or (command[0] != "{file}" and shutil.which(command[0]) is None):
        return None
    command = [part.format(file=binaries / file, folder=binaries, workers=workers) for part in command]
    command += [subject, str(n)] + ([str(workers)] if workers else [])
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode == 3:
        return None
    if done.returncode != 0:
        sys.exit(f"bench: {' '.join(command)} ended with {done.returncode}: {done.stderr.strip()}")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    return {(r["id"], r["case"]): (r["unit"], r["value"], r["wall"]) for r in rows}


def progress(text):
    """Shows what is being done in place, where somebody is looking."""
    if sys.stderr.isatty():
        print("\r" + text.ljust(78) + ("" if text else "\r"), end="", file=sys.stderr, flush=True)


def machine_speed():
    """How busy the neighbours are: nanoseconds of a dependent addition, the least a core can take for one step."""
    done = subprocess.run([binaries / "bench_machine"], capture_output=True, text=True)
    return done.stdout.strip()


def run_suite(name, suite, sizes, rounds, with_peers, results):
    subjects = ["ours"] + (list(suite["peers"]) if with_peers else [])
    for n, workers in [(n, w) for n in sizes for w in suite.get("workers", [None])]:
        samples = {s: [] for s in subjects}
        for round_number in range(rounds):
            for subject in list(samples):
                if subject != "ours" and round_number >= suite.get("peer_rounds", {}).get(n, rounds):
                    continue
                progress(f"{name} n={n:,}: round {round_number + 1} of {rounds}, {subject}")
                rows = run_once(suite, subject, n, workers)
                if rows is None:
                    del samples[subject]
                    progress("")
                    print(f"skipped: {subject} is not installed "
                          f"(package {suite['peers'][subject]}; ./bench --install-peers)")
                else:
                    samples[subject].append(rows)
        progress("")
        print_table(name, n, workers, samples, results)


def middle(samples, key, part):
    return statistics.median(s[key][part] for s in samples if key in s)


def print_table(suite, n, workers, samples, results):
    peers = [s for s in samples if s != "ours"]
    fewest = min((len(samples[p]) for p in peers), default=0)
    few = f"; {fewest} round of the peers" if peers and fewest < len(samples["ours"]) else ""
    with_workers = "" if workers is None else f", {workers} worker" + ("s" if workers > 1 else "")
    print(f"\n{suite}, n = {n:,}{with_workers}: CPU ns per operation unless said, median of {len(samples['ours'])} "
          f"rounds{few}; ratio to ours behind each peer")
    print(f"  {'id':6} {'case':40} {'ours':>8} {'spread':>7} {'wall':>8} {'target':>14}",
          *(f"{p:>22}" for p in peers))
    for key in samples["ours"][0]:
        unit = samples["ours"][0][key][0]
        values = sorted(s[key][1] for s in samples["ours"])
        ours = statistics.median(values)
        wall = middle(samples["ours"], key, 2)
        spread = (values[-1] - values[0]) / ours if ours else 0
        target = suites[suite].get("targets", targets).get(key, {}).get(n if workers is None else workers)
        verdict = "" if target is None else f"{target:g} " + ("reached" if ours <= tolerance * target else "MISSED")
        line = f"  {key[0]:6} {key[1]:40} {ours:8.2f} {spread:6.0%} {wall:8.2f} {verdict:>14}"
        entry = {"id": key[0], "suite": suite, "case": key[1], "n": n, "workers": workers or 1, "unit": unit,
                 "ours": round(ours, 3), "peer": None, "peer_value": None, "ratio": None,
                 "wall": round(wall, 3), "spread": round(spread, 3)}
        results.append(entry)
        for peer in peers:
            if not any(key in s for s in samples[peer]):
                line += f" {'-':>22}"
                continue
            value = middle(samples[peer], key, 1)
            ratio = value / ours if ours else None  # nothing against something has no ratio
            asked = suites[suite].get("ratios", {}).get((key[0], peer), {}).get(workers, 0)
            mark = "" if ratio is None or ratio >= asked else f" <{asked:g}"
            shown = f"({'-' if ratio is None else f'{ratio:.1f}x'}{mark})"
            line += f" {value:10.2f} {shown:>11}"
            results.append({**entry, "peer": peer, "peer_value": round(value, 3),
                            "ratio": None if ratio is None else round(ratio, 3)})
        print(line)


def count_case(suite, case, n):
    """Runs one case under callgrind: {(id, case): instructions per operation}.

    The programs write a dump after each measured piece ("measured OPERATIONS") and after each reported case
    ("reported ID CASE"); the pieces since the last report belong to it.
    """
    with tempfile.TemporaryDirectory() as folder:
        command = ["env", "-i", f"BENCH_ONLY={case}", "valgrind", "--tool=callgrind",
                   f"--callgrind-out-file={folder}/dump", binaries / suites[suite]["program"], "ours", str(n), "1"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"bench: {suite} {case} under callgrind ended with {done.returncode}: {done.stderr.strip()}")
        counts = {}
        instructions = operations = 0
        number = 1
        while (dump := pathlib.Path(folder) / f"dump.{number}").exists():
            text = dump.read_text()
            what = re.search(r"^desc: Trigger: Client Request: (measured|reported) (.*)$", text, re.M)
            if what and what[1] == "measured":
                instructions += int(re.search(r"^totals: (\d+)", text, re.M)[1])
                operations += int(what[2])
            elif what and operations:
                counts[tuple(what[2].split(" ", 1))] = instructions / operations
                instructions = operations = 0
            number += 1
    if not counts:
        sys.exit(f"bench: {suite} {case} counted nothing; was it built without valgrind's headers?")
    return counts


def count_instructions():
    build_release([suites[name]["program"] for name in counted])
    rows = []
    print(f"  {'suite':10} {'id':6} {'case':40} {'instructions per operation':>27}")
    for suite, (cases, n) in counted.items():
        for case in cases:
            progress(f"{suite}: {case}")
            # The least of three: a worker that parks while a thread sends adds to a count, by up to 4 %.
            runs = [count_case(suite, case, n) for _ in range(3)]
            counts = {key: min(run[key] for run in runs) for key in runs[0]}
            progress("")
            for (id, name), value in counts.items():
                print(f"  {suite:10} {id:6} {name:40} {value:27.1f}", flush=True)
                rows.append({"id": id, "suite": suite, "case": name, "n": n, "workers": 1, "unit": "instructions",
                             "ours": round(value, 1), "peer": None})
    return rows


def write_rows(file, rows):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n")


def compare(base_file, new_file, threshold):
    def medians(file):
        try:
            rows = json.loads(pathlib.Path(file).read_text())
            return {(r["suite"], r["id"], r["case"], r["n"], r["workers"]): r["ours"] for r in rows if not r["peer"]}
        except (OSError, ValueError, KeyError, TypeError) as error:
            sys.exit(f"bench: {file} is no result file: {error}")
    base, new = medians(base_file), medians(new_file)
    worse = missing = 0
    print(f"  {'id':6} {'case':40} {'n':>10} {'base':>9} {'now':>9} {'change':>8}")
    for key in sorted(base.keys() | new.keys(), key=str):
        if key not in base or key not in new:
            print(f"  {key[1]:6} {key[2]:40} {key[3]:>10} only in {'base' if key in base else 'now'}")
            missing += key in base
            continue
        change = new[key] / base[key] - 1 if base[key] else 0
        mark = ""
        if change > threshold:
            worse += 1
            mark = "  worse"
        print(f"  {key[1]:6} {key[2]:40} {key[3]:>10} {base[key]:9.2f} {new[key]:9.2f} {change:+8.1%}{mark}")
    print(f"{worse} cases are more than {threshold:.0%} worse, {missing} of the base were not measured now")
    return 1 if worse or missing or not base else 0


def main():
    parser = argparse.ArgumentParser(prog="./bench", usage=__doc__.split("usage: ")[1].split("\n\n")[0])
    parser.add_argument("suites", nargs="*")
    parser.add_argument("--quick", action="store_true", help="small sizes only")
    parser.add_argument("--no-peers", action="store_true")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--compare", metavar="BASE.json", nargs="?", const=baseline_file)
    parser.add_argument("--instructions", action="store_true")
    parser.add_argument("--write-baseline", action="store_true")
    parser.add_argument("--threshold", type=float)
    a = parser.parse_args()
    if a.instructions or a.compare == baseline_file:
        write_rows(instructions_file, count_instructions())
        if a.write_baseline:
            shutil.copyfile(instructions_file, baseline_file)
            print(f"written: {baseline_file.relative_to(root)}")
        return compare(baseline_file, instructions_file, a.threshold or 0.02) if a.compare else 0
    if a.compare:
        return compare(a.compare, a.suites[0] if a.suites else results_file, a.threshold or 0.05)
    for name in a.suites:
        if name not in suites:
            sys.exit(f"bench: there is no suite '{name}'; there are: {', '.join(suites)}")
    rounds = a.rounds
    if rounds < 1:
        sys.exit(f"bench: {rounds} rounds are too few, at least 1 is needed (5 for figures to keep)")
    build_release()
    results = []
    started = time.time()
    print(machine_speed())
    for name in a.suites or suites:
        run_suite(name, suites[name], suites[name]["quick" if a.quick else "sizes"], rounds, not a.no_peers, results)
    results_file.parent.mkdir(parents=True, exist_ok=True)
    results_file.write_text(json.dumps(results, indent=1) + "\n")
    print("\n" + machine_speed())
    print(f"{len(results)} results in {results_file.relative_to(root)}, {time.time() - started:.0f} s")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit("bench: stopped")
    except BrokenPipeError:  # the reader has seen enough
        sys.exit(0)
