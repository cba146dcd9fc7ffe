"""Debian's mosquitto with nothing in mind, and its command-line clients."""
import shutil
import subprocess
import time

import pytest

from daemon import free_port

PATIENCE_SECONDS = 60

# For a module: `pytestmark = broker.needed`.
needed = pytest.mark.skipif(
    not all(shutil.which(name, path="/usr/sbin:/usr/bin:/bin") for name in ("mosquitto", "mosquitto_pub", "mosquitto_sub")),
    reason="mosquitto and its clients are not installed")


def eventually(condition):
    """The first answer that is not empty."""
    limit = time.monotonic() + PATIENCE_SECONDS
    while not (answer := condition()):
        assert time.monotonic() < limit, "nothing came"
        time.sleep(0.05)
    return answer


class Broker:
    """A mosquitto of the test's own, which remembers nothing when it ends."""

    def __init__(self, folder):
        self.port = free_port()
        self.config = folder / "mosquitto.conf"
        self.config.write_text(f"listener {self.port} 127.0.0.1\nallow_anonymous true\nmax_queued_messages 0\n")
        self.process = None

    def start(self):
        self.process = subprocess.Popen(
            ["/usr/sbin/mosquitto", "-c", self.config], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def stop(self):
        self.process.terminate()
        self.process.wait(PATIENCE_SECONDS)

    def retained(self, topic):
        """What it keeps on topics, by topic."""
        done = subprocess.run(
            ["mosquitto_sub", "-p", str(self.port), "-v", "-W", "1", "--retained-only", "-t", topic],
            capture_output=True, text=True)
        return dict(line.split(" ", 1) for line in done.stdout.splitlines())

    def keep(self, topic, text):
        """Publishes a retained message. Returns whether the broker took it."""
        return subprocess.run(
            ["mosquitto_pub", "-p", str(self.port), "-r", "-t", topic, "-m", text], stderr=subprocess.DEVNULL).returncode == 0

    def publish(self, topic, text):
        subprocess.run(["mosquitto_pub", "-p", str(self.port), "-t", topic, "-m", text], check=True)
