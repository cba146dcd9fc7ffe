"""The three motor receivers, and the prober that drives one of them."""
import socket
import sys
from contextlib import contextmanager

from .processes import Failed
from .samples import Distribution

NAMES = ("Tactus", "C", "Python")


def free_port():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def command(context, name, port, motor):
    real_time = [context.priority, context.cpu]
    return {
        "Tactus": [context.bench, "receive", port, motor, *real_time],
        "C": [context.peer("receiver"), port, motor, *real_time],
        "Python": [sys.executable, context.peer("receiver.py"), port, motor],
    }[name]


class Receiver:
    """A running receiver: its port, its motor's other end, and what it printed when it was stopped."""

    def __init__(self, context, process, port, motor):
        self.context, self.process, self.port, self.motor = context, process, port, motor
        self.printed = ""

    def probe(self, count, interval_us, limit):
        """The prober's counts and the latencies. It runs above the receiver, on the other processor."""
        context, out = self.context, self.context.scratch / "probes"
        counts = context.processes.run_json(
            [context.peer("prober"), self.port, self.motor.fileno(), count, interval_us, out,
             context.priority + 10, context.other_cpu],
            limit, pass_fds=(self.motor.fileno(),))
        if self.process.poll() is not None:
            raise Failed(f"the receiver ended with {self.process.returncode}")
        return counts, Distribution.from_file(out)

    def dropped(self):
        """Datagrams the kernel dropped because the receiver's buffer was full."""
        with open("/proc/net/udp") as table:
            for line in list(table)[1:]:
                fields = line.split()
                if fields[1].split(":")[1] == f"{self.port:04X}":
                    return int(fields[-1])
        return 0


@contextmanager
def receiving(context, name):
    import subprocess
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    port = free_port()
    process = context.processes.start(
        command(context, name, port, theirs.fileno()), pass_fds=(theirs.fileno(),), stdout=subprocess.PIPE)
    theirs.close()
    receiver = Receiver(context, process, port, ours)
    try:
        yield receiver
    finally:
        receiver.printed = context.processes.stop(process)
        ours.close()
