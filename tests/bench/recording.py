# SPDX-License-Identifier: Apache-2.0
"""Size of a recording and the recorder's own CPU, against `perf record -z` of the same running program in turn."""
import os
import re
import subprocess
import sys
import tempfile

from paired import JITPROF, Running, compile_program, cpu_of

SECONDS = 10
HZ = 999


def samples_of(path, is_perf):
    if is_perf:
        text = subprocess.run(["perf", "report", "--stats", "-i", path], capture_output=True, text=True).stdout
        return int(re.search(r"SAMPLE events:\s+(\d+)", text).group(1))
    text = subprocess.run([JITPROF, "info", path], capture_output=True, text=True).stdout
    return int(re.search(r"^samples: (\d+)", text, re.M).group(1))


def record(command, pid, path, is_perf):
    cpu, _ = cpu_of([*command, "-o", path, "-p", str(pid)] + (["--", "sleep", str(SECONDS)] if is_perf else ["-d", str(SECONDS)]))
    return cpu, samples_of(path, is_perf)


def main():
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    program = compile_program("live_stack.cc")
    folder = tempfile.mkdtemp(prefix="jitprof-bench-")
    print("| live stack, threads | perf -z bytes/sample | jitprof bytes/sample | size ratio "
          "| perf's own CPU, s | jitprof's own CPU, s | target's CPU, s |")
    print("|---|---|---|---|---|---|---|")
    for kib in (2, 14):
        for threads in (1, 4):
            rows = []
            for run in range(runs):
                with Running([program, kib, threads, 10 * SECONDS]) as target:
                    perf_path, path = f"{folder}/perf.data", f"{folder}/jitprof.data"
                    perf_cpu, perf_samples = record(["perf", "record", "-z", "-e", "cpu-clock", "-F", str(HZ), "--call-graph", "dwarf,32768"],
                                             target.process.pid, perf_path, True)
                    before = target.cpu()
                    cpu, samples = record([JITPROF, "record", "-e", "cpu-clock", "-F", str(HZ)], target.process.pid, path, False)
                    used = target.cpu() - before
                    perf_bytes = os.path.getsize(perf_path) / perf_samples
                    own_bytes = os.path.getsize(path) / samples
                    rows.append((own_bytes / perf_bytes, perf_bytes, own_bytes, perf_cpu, cpu, used))
            ratio, perf_bytes, own_bytes, perf_cpu, cpu, used = sorted(rows)[len(rows) // 2]
            print(f"| {kib} KiB, {threads} | {perf_bytes:.0f} | {own_bytes:.0f} | {ratio:.2f} "
                  f"| {perf_cpu:.2f} | {cpu:.2f} | {used:.1f} |", flush=True)


main()
