"""A daemon of another package: Examples/fan-daemon on its simulated hardware."""
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from daemon import Daemon  # noqa: E402

FAN = """\
network: {{http_port: {port}}}
fan:
  gain: {gain}
  most_percent: {most}
runtime: {{lock_memory: false, fan: {{scheduling: normal}}}}
service: {{token_file: {folder}/tokens.json, bonjour: false}}
"""


class FanDaemon(Daemon):
    """`fan-daemon run --simulate`."""

    def __init__(self, folder, more=""):
        super().__init__(folder)
        self.more = more
        self.configure()

    def configure(self, gain=10, most=80, pwm=None):
        text = FAN.format(port=self.port, folder=self.folder, gain=gain, most=most)
        if pwm:
            text = text.replace("fan:\n", f"fan:\n  pwm: {pwm}\n", 1)
        self.config.write_text(text + self.more)

    @property
    def state(self):
        return self.get("/api/fan").json()


@pytest.fixture(scope="session")
def fan(tmp_path_factory):
    with FanDaemon(tmp_path_factory.mktemp("fan")) as daemon:
        yield daemon


@pytest.fixture
def own_fan(tmp_path):
    """`own_fan(text)` starts one with this text at the end of its configuration, `own_fan(NAME=value)` with this in its environment."""
    running = []

    def start(more="", **environment):
        daemon = FanDaemon(tmp_path, more)
        daemon.environment = environment
        running.append(daemon)
        daemon.start()
        return daemon

    yield start
    for daemon in running:
        daemon.stop()
