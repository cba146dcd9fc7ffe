"""What every row is handed: where the programs are, how long and how often to run, and on which processors."""
import os
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from .processes import Failed, Processes

PACKAGE = Path(__file__).resolve().parent.parent


@dataclass
class Context:
    rounds: int = 5
    quick: bool = False
    processes: Processes = field(default_factory=Processes)
    # The measured thread's processor and the one beside it.
    cpu: int = field(default_factory=lambda: sorted(os.sched_getaffinity(0))[-1])
    other_cpu: int = field(default_factory=lambda: sorted(os.sched_getaffinity(0))[0])
    priority: int = 80
    scratch: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="tactus-bench-")))
    hog_count: int = 4
    # The descriptor that holds the wake-up latency, if one does.
    latency: int | None = None

    def __post_init__(self):
        self.bench = PACKAGE / ".build/release/tactus-bench"
        self.peers = PACKAGE / ".build/peers"

    def peer(self, name):
        return self.peers / name

    def long_or_quick(self, long, quick):
        return quick if self.quick else long

    def require_real_time(self):
        try:
            self.processes.run(["chrt", "-f", self.priority, "true"], 5)
        except Failed:
            raise Failed("needs the privilege to run at SCHED_FIFO (root, CAP_SYS_NICE or RLIMIT_RTPRIO)") from None

    def hold_latency(self):
        """Keeps the processors' wake-up latency at 0 for every peer; without the device or the privilege nothing does."""
        try:
            self.latency = os.open("/dev/cpu_dma_latency", os.O_WRONLY)
            os.write(self.latency, bytes(4))
        except OSError:
            self.release_latency()

    def release_latency(self):
        if self.latency is not None:
            os.close(self.latency)
            self.latency = None

    def turns(self, things):
        """(round, thing) for every round; each round starts with another thing, so none is always first."""
        things = list(things)
        for turn in range(self.rounds):
            shift = turn % len(things)
            for thing in things[shift:] + things[:shift]:
                yield turn, thing

    def load(self, hogs, seconds):
        return self.processes.hogs(self.peer("hog"), self.hog_count if hogs else 0, seconds)
