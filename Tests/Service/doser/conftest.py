"""Two dosing pumps of another package: Examples/doser-daemon on its simulated hardware."""
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from daemon import Daemon  # noqa: E402

DOSERS = """\
network: {{http_port: {port}}}
dosers:
  - name: acid
    most_ml_a_day: 5
    ml_per_minute: 120
  - name: chlorine
    step: GPIO5
    direction: GPIO6
    enable: GPIO13
    flow: GPIO19
    float: GPIO26
    reversed: true
runtime: {{lock_memory: false, doser: {{scheduling: normal}}}}
store: {{folder: {folder}/store}}
service: {{token_file: {folder}/tokens.json, bonjour: false}}
"""


class DoserDaemon(Daemon):
    """`doser-daemon run --simulate`."""

    def __init__(self, folder):
        super().__init__(folder)
        self.config.write_text(DOSERS.format(port=self.port, folder=self.folder))

    def state(self, name="acid"):
        return self.get(f"/api/doser/{name}").json()

    def doses(self, name="acid"):
        return self.get(f"/api/doser/{name}/doses").json()["rows"]

    def dose(self, millilitres, name="acid"):
        return self.post(f"/api/doser/{name}/dose", json={"millilitres": millilitres})


@pytest.fixture
def dosers(tmp_path):
    with DoserDaemon(tmp_path) as daemon:
        yield daemon
