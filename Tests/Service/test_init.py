"""The daemon as process 1 of a container: whoever is left without a parent there becomes its child."""
import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from daemon import STOP_LIMIT_SECONDS, Daemon
from test_children import until

SPACES = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"] + ([] if os.geteuid() == 0 else ["--map-root-user"])
# A process whose parent has ended, then the program in the shell's place.
ORPHAN = '(sleep 1000 &); exec "$@"'

pytestmark = pytest.mark.skipif(
    not shutil.which("unshare") or subprocess.run([*SPACES, "true"], capture_output=True, check=False).returncode != 0,
    reason="this machine grants no namespaces (unshare)")


def children(process):
    return [int(word) for word in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def name(process):
    return Path(f"/proc/{process}/comm").read_text().strip()


@pytest.fixture
def contained(tmp_path):
    """The daemon in a space of processes of its own, and its process 1."""
    daemon = Daemon(tmp_path, prefix=[*SPACES, "sh", "-c", ORPHAN, "sh"])
    daemon.start()
    (first,) = children(daemon.process.pid)
    yield daemon, first
    daemon.process.kill()
    daemon.process.wait(STOP_LIMIT_SECONDS)


def test_an_orphan_that_ends_does_not_stay_a_zombie(contained):
    _, first = contained
    (orphan,) = [child for child in children(first) if name(child) == "sleep"]
    os.kill(orphan, signal.SIGKILL)
    until(lambda: not Path(f"/proc/{orphan}").exists(), "it is a zombie")


def test_sigterm_to_process_1_stops_the_daemon_in_order(contained):
    daemon, first = contained
    (orphan,) = [child for child in children(first) if name(child) == "sleep"]
    os.kill(orphan, signal.SIGKILL)
    os.kill(first, signal.SIGTERM)
    assert daemon.process.wait(STOP_LIMIT_SECONDS) == 0
    assert "SIGTERM" in daemon.log


def test_the_container_ends_with_the_daemon_and_says_how(contained):
    daemon, first = contained
    (own,) = [child for child in children(first) if name(child) != "sleep"]
    os.kill(own, signal.SIGKILL)
    # An orphan does not hold it up for longer than the guard may need.
    assert daemon.process.wait(STOP_LIMIT_SECONDS) == 128 + signal.SIGKILL
