# SPDX-License-Identifier: Apache-2.0
"""CPU of a report with inlined functions, against `perf script` (and samply, if it is there) on the same perf.data."""
import shutil
import subprocess
import sys
import tempfile

from paired import JITPROF, compile_program, cpu_of


def main():
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    program = compile_program("threads.cc")
    folder = tempfile.mkdtemp(prefix="jitprof-bench-")
    data = f"{folder}/perf.data"
    subprocess.run(["perf", "record", "-q", "-e", "cpu-clock", "-F", "999", "--call-graph", "dwarf,16384", "-o", data, program, "7"],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    commands = {
        "perf script": ["perf", "script", "-F", "comm,pid,tid,time,ip,sym,dso", "-i", data],
        "jitprof report -f folded": [JITPROF, "report", "-f", "folded", data],
    }
    if shutil.which("samply"):
        commands["samply import (no names)"] = ["samply", "import", data, "--save-only", "-o", f"{folder}/samply.json.gz"]
    times = {name: [] for name in commands}
    peaks = {}
    for _ in range(runs):
        for name, command in commands.items():
            cpu, peaks[name] = cpu_of(command)
            times[name].append(cpu)
    own = min(times["jitprof report -f folded"])
    print("| command | CPU s, min | MB | against jitprof |")
    print("|---|---|---|---|")
    for name in commands:
        print(f"| {name} | {min(times[name]):.2f} | {peaks[name]:.0f} | {min(times[name]) / own:.1f} × |")


main()
