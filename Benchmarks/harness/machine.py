"""What the figures were taken on, without saying whose machine it is."""
import os
import platform
import re
import subprocess


def _read(path):
    try:
        with open(path) as file:
            return file.read().strip()
    except OSError:
        return None


def _first(command, pattern):
    try:
        output = subprocess.run(command, capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return None
    match = re.search(pattern, output.stdout + output.stderr)
    return match.group(1) if match else None


def describe():
    information = _read("/proc/cpuinfo") or ""
    model = re.search(r"^(?:model name|Model)\s*:\s*(.+)$", information, re.MULTILINE)
    virtual = "hypervisor" in information
    preemption = re.search(r"PREEMPT\w*", platform.version())
    throttle = _read("/proc/sys/kernel/sched_rt_runtime_us")
    return {
        "processor": (model.group(1) if model else platform.machine()) + (", virtual machine" if virtual else ""),
        "cores": os.cpu_count(),
        "kernel": re.match(r"[\d.]+\d", platform.release()).group(0)
        + (f" {preemption.group(0)}" if preemption else ""),
        "governor": _read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor") or "not readable",
        "clocksource": _read("/sys/devices/system/clocksource/clocksource0/current_clocksource") or "not readable",
        "real-time throttling": f"{throttle} µs of each second" if throttle else "not readable",
        "versions": ", ".join(
            f"{name} {version}" for name, version in (
                ("Swift", _first(["swift", "--version"], r"Swift version ([\d.]+)")),
                ("gcc", _first(["cc", "-dumpfullversion"], r"([\d.]+)")),
                ("Python", platform.python_version()),
                ("rt-tests", _first(["cyclictest", "--help"], r"V ([\d.]+)")),
                ("Boost", _boost()),
                ("Valgrind", _first(["valgrind", "--version"], r"valgrind-([\d.]+)")),
            ) if version),
    }


def _boost():
    text = _read("/usr/include/boost/version.hpp") or ""
    match = re.search(r'BOOST_LIB_VERSION "([\d_]+)"', text)
    return match.group(1).replace("_", ".") if match else None


def busy_share(seconds=0.5):
    """How busy the machine is before anything was started, 0…1."""
    import time

    def ticks():
        fields = [int(field) for field in _read("/proc/stat").splitlines()[0].split()[1:]]
        return sum(fields), fields[3] + fields[4]

    total, idle = ticks()
    time.sleep(seconds)
    total_after, idle_after = ticks()
    return 1 - (idle_after - idle) / max(1, total_after - total)
