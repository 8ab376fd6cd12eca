# SPDX-License-Identifier: Apache-2.0
"""The unwinder against framehop and libdwfl on the same samples, and reports that are mostly unwinding against
samply and perf. Usage: unwind.py [--recordings FOLDER] [--rounds N] [walk|tables|report|memory|deep|jobs]…

Comparators are taken from PATH and left out when they are not there: `peer-unwind FILE PASSES [DUMP]` (framehop;
it also writes the samples down) and `dwflb DUMP PASSES` (libdwfl on what was written) print a line a pass with
"… N ns/frame …"; `samply`; `perf`. All of one round run in turn; a ratio is that of the quietest round."""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

import unwind_recordings
from paired import JITPROF, ROOT, compile_program, cpu_of

UNWIND_BENCH = ROOT / "build" / "tests" / "unwind-bench"
PASSES = 3

# What issue 4 asks of the walk, warm: at most so many times framehop's time, at least so many times below
# libdwfl's, at most so many ns/frame.
LIMITS = {
    "threads": (0.5, None, None),
    "deep30": (None, 8, 60),
    "deep800": (None, 8, 60),
    "deep1000": (1.0, None, None),
    "python": (0.8, 5, None),
    "node": (None, 5, None),
    "clang": (0.5, 5, None),
    "libjvm": (0.5, None, None),
}


def is_here(command):
    if shutil.which(command):
        return True
    print(f"no '{command}' in PATH: its columns stay empty", file=sys.stderr)
    return False


class Passes:
    """One run of a walker: ns/frame of its cold pass and of the best warm one, and what the last of those said."""

    def __init__(self, *command):
        text = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=True).stdout
        lines = {name: re.findall(rf"^.*\b{name}\b.*$", text, re.M) for name in ("cold", "warm")}
        ns = {name: min(float(found(r"([\d.]+) ns/frame", line)) for line in lines[name]) for name in lines}
        self.cold, self.warm, self.line = ns["cold"], ns["warm"], lines["warm"][-1]


def found(pattern, line):
    match = re.search(pattern, line)
    return match.group(1) if match else "–"


def drop_second_mappings(dump):
    """libdwfl loses a file altogether when it is told of a second mapping of it (node has one of its builtins)."""
    with open(dump, "rb") as file:
        lines = [file.readline() for _ in range(int(file.readline()))]
        first_of_each = list({line.rsplit(b" ", 3)[0]: line for line in reversed(lines)}.values())[::-1]
        with open(f"{dump}.once", "wb") as once:
            once.write(b"%d\n" % len(first_of_each) + b"".join(first_of_each))
            shutil.copyfileobj(file, once, 1 << 20)
    os.replace(f"{dump}.once", dump)


def rounds_of(path, rounds, has_framehop, has_libdwfl):
    """Each round's passes by walker, run in turn."""
    with tempfile.TemporaryDirectory(prefix="jitprof-bench-") as folder:
        walkers = {"jitprof": [UNWIND_BENCH, path, PASSES]}
        if has_framehop:
            walkers["framehop"] = ["peer-unwind", path, PASSES - 1]
        if has_framehop and has_libdwfl:
            subprocess.run(["peer-unwind", path, "1", f"{folder}/dump"], check=True, stdout=subprocess.DEVNULL)
            drop_second_mappings(f"{folder}/dump")
            walkers["libdwfl"] = ["dwflb", f"{folder}/dump", 2]
        return [{name: Passes(*command) for name, command in walkers.items()} for _ in range(rounds)]


def quietest(rounds, *names):
    return min(rounds, key=lambda one: sum(one[name].warm for name in names))


def verdict(value, limit, at_most=True):
    if limit is None:
        return f"{value:.2f} ×"
    kept = value <= limit if at_most else value >= limit
    return f"{value:.2f} × (must be {'≤' if at_most else '≥'} {limit}{'' if kept else ': MISSED'})"


def walk_row(name, rounds):
    of_framehop, over_libdwfl, most_ns = LIMITS[name]
    own = quietest(rounds, "jitprof")["jitprof"]
    limit = "" if most_ns is None else f" (must be ≤ {most_ns}{'' if own.warm <= most_ns else ': MISSED'})"
    row = [name, found(r"\(([\d.]+)/sample", own.line), f"{own.cold:.0f}, {own.warm:.1f}{limit}"]
    roots = found(r"reached_root ([\d.]+%)", own.line)
    if "framehop" in rounds[0]:
        pair = quietest(rounds, "jitprof", "framehop")
        peer = pair["framehop"]
        row += [f"{peer.cold:.0f}, {peer.warm:.1f}", verdict(pair["jitprof"].warm / peer.warm, of_framehop)]
        roots += f", {found(r'root ([0-9.]+%)', peer.line)}"
    else:
        row += ["–", "–"]
    if "libdwfl" in rounds[0]:
        pair = quietest(rounds, "jitprof", "libdwfl")
        peer = pair["libdwfl"]
        row += [f"{peer.warm:.0f}", verdict(peer.warm / pair["jitprof"].warm, over_libdwfl, False)]
    else:
        row += ["–", "–"]
    return row + [roots]


def walk(paths, options):
    has_framehop, has_libdwfl = is_here("peer-unwind"), is_here("dwflb")
    print("| recording | frames/sample | jitprof ns/frame: cold, warm | framehop: cold, warm | of framehop's "
          "| libdwfl, warm | faster than libdwfl | at the root: jitprof, framehop |")
    print("|---|---|---|---|---|---|---|---|")
    for name, path in paths.items():
        row = walk_row(name, rounds_of(path, options.rounds, has_framehop, has_libdwfl))
        print("| " + " | ".join(row) + " |", flush=True)


def tables(paths, _):
    """Every module of 1,000 rows or more that some recording has."""
    rows_of = {}
    for path in paths.values():
        text = subprocess.run([UNWIND_BENCH, "--tables", path], capture_output=True, text=True, check=True).stdout
        rows_of.update((name, numbers) for name, *numbers in (line.rsplit(" ", 4) for line in text.splitlines()))
    print("| module | rows | ns/row | table bytes | .eh_frame bytes | of .eh_frame's |\n|---|---|---|---|---|---|")
    for module, numbers in sorted(rows_of.items(), key=lambda row: -int(row[1][0])):
        rows, ns, size, section_size = map(int, numbers)
        if rows >= 1000:
            ns_per_row = f"{ns}{'' if ns <= 200 else ' (must be ≤ 200: MISSED)'}"
            ratio = verdict(size / section_size, 1.3)
            print(f"| {module} | {rows} | {ns_per_row} | {size} | {section_size} | {ratio} |")


def folded(path, *more):
    return [JITPROF, "report", "-f", "folded", *more, path]


def compare(name, command, peer_name, peer, options, limit, at_most):
    """Rows of CPU and memory of a command of ours and a peer's run in turn, and their ratio in the quietest round."""
    commands = {name: command} | ({peer_name: peer} if is_here(peer[0]) else {})
    rounds = [[cpu_of([str(word) for word in one]) for one in commands.values()] for _ in range(options.rounds)]
    quiet = min(rounds, key=lambda row: sum(cpu for cpu, _ in row))
    for one, (cpu, megabytes) in zip(commands, quiet):
        print(f"| {one} | {cpu:.2f} | {megabytes:.0f} | |")
    if len(quiet) == 2:
        own, peer_cpu = quiet[0][0], quiet[1][0]
        print(f"| ratio | | | {verdict(own / peer_cpu if at_most else peer_cpu / own, limit, at_most)} |", flush=True)


def report(paths, options):
    print("| command | CPU s | MB | |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="jitprof-bench-") as folder:
        for name in [name for name in ("threads", "clang") if name in paths]:
            samply = ["samply", "import", paths[name], "--save-only", "-o", f"{folder}/samply.json.gz"]
            compare(f"{name}: jitprof report --names module -f folded", folded(paths[name], "--names", "module"),
                    f"{name}: samply import --save-only", samply, options, 1.0, True)


def memory(_, options):
    """Peak memory of the reports of one program, four times as many samples in the second."""
    program = compile_program("threads.cc")
    print("| s of the program | MB of perf.data | peak MB |\n|---|---|---|")
    for seconds in (4, 16):
        path = pathlib.Path(options.recordings) / f"memory{seconds}.perf.data"
        if not path.exists():
            unwind_recordings.record(path, 999, 16384, [program, seconds])
        _, megabytes = cpu_of([str(word) for word in folded(path, "--names", "module")])
        print(f"| {seconds} | {path.stat().st_size >> 20} | {megabytes:.0f} |", flush=True)


def deep(paths, options):
    """Frames by the million: 64 KiB stacks of 1,000 frames."""
    print("| command | CPU s | MB | |\n|---|---|---|---|")
    perf = ["perf", "script", "--no-inline", "--max-stack", "5000", "-i", paths["deep1000"]]
    compare("deep1000: jitprof report -f folded", folded(paths["deep1000"]),
            "deep1000: perf script --no-inline --max-stack 5000", perf, options, 20, False)


def wall_of(command):
    start = time.monotonic()
    words = [str(word) for word in command]
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.monotonic() - start


def jobs(paths, options):
    print("| recording | one job, s of wall time | two jobs | faster |\n|---|---|---|---|")
    for name in [name for name in ("clang", "deep1000") if name in paths]:
        commands = [folded(paths[name], "--names", "module", "--jobs", count) for count in (1, 2)]
        walls = [[wall_of(command) for command in commands] for _ in range(options.rounds)]
        one, two = (min(column) for column in zip(*walls))
        print(f"| {name} | {one:.2f} | {two:.2f} | {verdict(one / two, 1.6, False)} |", flush=True)


PARTS = {"walk": walk, "tables": tables, "report": report, "memory": memory, "deep": deep, "jobs": jobs}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--recordings", help="folder that keeps the recordings (2 GB); those it lacks are made")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("parts", nargs="*", help=", ".join(PARTS))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="jitprof-bench-") as folder:
        options.recordings = options.recordings or folder
        paths = unwind_recordings.make(options.recordings)
        for part in options.parts or PARTS:
            print(f"\n### {part}\n")
            PARTS[part](paths, options)


main()
