"""Two kettles of another package: Examples/kettle-daemon on its simulated hardware."""
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from daemon import Daemon  # noqa: E402

KETTLES = """\
network: {{http_port: {port}}}
kettles:
  - name: left
    steps: [{{celsius: 30, minutes: 0.02}}, {{celsius: 40, minutes: {minutes}}}]
  - name: right
    heater: /sys/class/pwm/pwmchip0/pwm1
    agitator: GPIO22
    level: GPIO23
    thermometer: /dev/spidev0.1
    steps: [{{celsius: 22, minutes: 0.01}}]
runtime: {{lock_memory: false, kettle: {{scheduling: normal}}}}
store: {{folder: {folder}/store}}
service: {{token_file: {folder}/tokens.json, bonjour: false}}
"""


class KettleDaemon(Daemon):
    """`kettle-daemon run --simulate`."""

    def __init__(self, folder, minutes=60, more=""):
        super().__init__(folder)
        self.config.write_text(KETTLES.format(port=self.port, folder=self.folder, minutes=minutes) + more)

    def state(self, name="left"):
        return self.get(f"/api/kettle/{name}").json()

    def runs(self, name="left"):
        return self.get(f"/api/kettle/{name}/runs").json()["rows"]


@pytest.fixture
def kettles(tmp_path):
    with KettleDaemon(tmp_path) as daemon:
        yield daemon


@pytest.fixture
def own_kettles(tmp_path):
    """`own_kettles(…)` starts some with these words in their configuration."""
    running = []

    def start(**words):
        daemon = KettleDaemon(tmp_path, **words)
        running.append(daemon)
        daemon.start()
        return daemon

    yield start
    for daemon in running:
        daemon.stop()
