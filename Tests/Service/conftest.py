"""The daemons the tests share; a test that latches or fills something takes one of its own."""
import time

import pytest

from daemon import Daemon


@pytest.fixture(scope="session")
def daemon(tmp_path_factory):
    with Daemon(tmp_path_factory.mktemp("daemon")) as daemon:
        yield daemon


@pytest.fixture
def own_daemon(tmp_path):
    """`own_daemon(key=value…)` starts one with these keys of `service:`; `more` is text for its configuration."""
    running = []

    def start(more="", **service):
        folder = tmp_path / str(len(running))
        folder.mkdir()
        daemon = Daemon(folder, more=more, **service)
        running.append(daemon)
        daemon.start()
        return daemon

    yield start
    for daemon in running:
        daemon.stop()


@pytest.fixture(scope="session")
def tokens(daemon):
    """A token of each scope, as `tactus token create` makes them."""
    return {scope: daemon.create_token(scope) for scope in ("read", "control", "admin")}


@pytest.fixture(autouse=True)
def standing(request):
    """The shared robot stands and is free before every test that drives it."""
    if "drives" in request.keywords:
        daemon = request.getfixturevalue("daemon")
        daemon.reset()
        limit = time.monotonic() + 5
        while daemon.get("/api/robot").json()["holder"] is not None:
            assert time.monotonic() < limit
            time.sleep(0.05)
    yield


def pytest_addoption(parser):
    parser.addoption("--record", action="store_true", help="test_recorded.py writes what it finds in place of what is recorded")


def pytest_configure(config):
    config.addinivalue_line("markers", "drives: moves the shared daemon's robot")
    config.addinivalue_line("markers", "protocol: a real client of one of the protocols does what it is for; scripts/test runs these, --ci all")
