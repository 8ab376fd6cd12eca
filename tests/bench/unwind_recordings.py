# SPDX-License-Identifier: Apache-2.0
"""The perf.data files the unwinder is measured on: one per kind of stack, 3,000 to 8,000 samples each, uncompressed
because framehop's reader wants it so. Usage: unwind_recordings.py FOLDER [NAME…]; what is there is kept."""
import os
import pathlib
import shutil
import subprocess
import sys

from paired import PROGRAMS, compile_program

CLANG = ["clang++-16", "-std=c++20", "-O2", "-g", "-c", PROGRAMS / "threads.cc", "-o", "/dev/null"]
# All of the JDK's compiler by the optimising compiler alone: 95 % of the time is libjvm's.
JAVAC = ["java", "-Xcomp", "-XX:-TieredCompilation", "-m", "jdk.compiler/com.sun.tools.javac.Main", "-version"]


# Name, samples per second, bytes of stack, command of 4 to 6 s of CPU (a .cc is compiled first).
RECORDINGS = [
    ("threads", 999, 16384, ["threads.cc", 6]),
    ("deep30", 999, 16384, ["live_stack.cc", 5, 1, 5]),
    ("deep800", 999, 65528, ["deep_recursion.cc", 800, 5]),
    ("deep1000", 999, 65528, ["deep_recursion.cc", 1000, 5]),
    ("python", 999, 32768, ["python3.11", PROGRAMS / "native_mix.py", 5]),
    ("node", 999, 32768, ["node", PROGRAMS / "native_mix.js", 5]),
    ("clang", 999, 32768, CLANG),
    ("libjvm", 999, 32768, JAVAC),
]


def runnable(command):
    """The command as it can be started; nothing when its program is not installed."""
    program, *rest = command
    if program.endswith(".cc"):
        return [compile_program(program), *rest]
    path = shutil.which(program)
    if path and program.startswith("python"):
        # What is in PATH may be a script that starts the interpreter.
        path = subprocess.check_output([path, "-c", "import sys; print(sys.executable)"], text=True).strip()
    return path and [pathlib.Path(path).resolve(), *rest]


def record(path, hz, stack_bytes, command):
    # Rings of 64 MiB: of 64 KiB stacks the usual ones lose a third.
    perf = ["perf", "record", "-q", "-e", "cpu-clock", "-m", "16384", "-F", hz, "-o", path]
    words = [*perf, "--call-graph", f"dwarf,{stack_bytes}", "--", *command]
    subprocess.run([str(word) for word in words], check=True, stdout=subprocess.DEVNULL)


def make(folder, names=()):
    """The path of each recording by its name, those whose program is not installed left out with a word."""
    paths = {}
    for name, hz, stack_bytes, command in RECORDINGS:
        path = pathlib.Path(folder) / f"{name}.perf.data"
        if names and name not in names:
            continue
        if not path.exists():
            words = runnable(command)
            if words is None:
                print(f"{name}: left out, no '{command[0]}' here", file=sys.stderr)
                continue
            record(path, hz, stack_bytes, words)
        paths[name] = path
    return paths


if __name__ == "__main__":
    os.makedirs(sys.argv[1], exist_ok=True)
    for name, path in make(sys.argv[1], sys.argv[2:]).items():
        print(name, path, os.path.getsize(path))
