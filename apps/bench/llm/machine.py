"""Facts about the machine and the sources, stored with a run."""
import os
import pathlib
import platform
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[3]
# The processor flags that decide the speed of GEMM, the best first.
ISA_FLAGS = ("amx_bf16", "amx_int8", "avx512_bf16", "avx512_vnni", "avx512f", "avx_vnni", "avx2", "asimd", "sse4_2")


def processor():
    """Name and flags of the first processor."""
    name, flags = platform.processor() or platform.machine(), []
    try:
        for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
            key, _, value = line.partition(":")
            if key.strip() == "model name":
                name = value.strip()
            if key.strip() in ("flags", "Features"):
                flags = value.split()
                break
    except OSError:
        pass
    return name, [flag for flag in ISA_FLAGS if flag in flags]


def memory():
    """MemTotal and MemAvailable, in bytes."""
    found = {}
    for line in pathlib.Path("/proc/meminfo").read_text().splitlines():
        key, _, value = line.partition(":")
        found[key] = int(value.split()[0]) * 1024
    return found["MemTotal"], found["MemAvailable"]


def git(*arguments):
    try:
        result = subprocess.run(["git", "-C", ROOT, *arguments], text=True, capture_output=True)
    except OSError:
        return ""
    return result.stdout.strip() if result.returncode == 0 else ""


def all_threads():
    return len(os.sched_getaffinity(0))


def facts(threads):
    name, isa = processor()
    return {"git_commit": git("rev-parse", "HEAD") + ("+" if git("status", "--porcelain", "-uno") else ""),
            "git_branch": git("rev-parse", "--abbrev-ref", "HEAD"), "device_name": name, "isa": " ".join(isa),
            "threads": threads, "memory_mb": memory()[0] >> 20, "kernel": platform.release()}
