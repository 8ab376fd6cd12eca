# SPDX-License-Identifier: Apache-2.0
"""What the benches share: compiling test programs, and running commands with their own CPU time."""
import ctypes
import os
import pathlib
import resource
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
JITPROF = ROOT / "build" / "cli" / "jitprof"
PROGRAMS = ROOT / "tests" / "programs"
PR_SET_CHILD_SUBREAPER = 36


def compile_program(source, flags=("-O2", "-g")):
    output = pathlib.Path(tempfile.mkdtemp(prefix="jitprof-bench-")) / pathlib.Path(source).stem
    command = ["g++", "-std=c++20", "-pthread", *flags, PROGRAMS / source, "-o", output]
    subprocess.run(command, check=True)
    return output


def children():
    return {int(pid) for pid in pathlib.Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()}


def cpu_of(command, stdout=subprocess.DEVNULL):
    """CPU seconds of a command and all it started, helpers it did not wait for included, and its peak MB."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    others = children()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    process = subprocess.Popen(command, stdout=stdout, stderr=subprocess.DEVNULL)
    _, status, own = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    for helper in children() - others:
        os.waitpid(helper, 0)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if process.returncode != 0:
        raise RuntimeError(f"{command} ended with {process.returncode}")
    return cpu, own.ru_maxrss / 1024


class Running:
    """A program that runs while something else attaches to it."""

    def __init__(self, command):
        self.process = subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL)
        time.sleep(0.3)

    def cpu(self):
        fields = (pathlib.Path("/proc") / str(self.process.pid) / "stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
