"""The daemons the tests share; a test that latches or fills something takes one of its own."""
import os
import shutil
import signal
import tempfile
import time
from pathlib import Path

import pytest

from apart import SHARED_CACHE, own_environment
from daemon import WAIT_LIMIT_SECONDS, Daemon

# Of this run: all that its tests and the programs which they start keep. Removed if all of them pass.
FOLDER = "TACTUS_TEST_FOLDER"

# A script that starts the tests in its background has them ignore SIGINT, which every program that they start would, too.
signal.signal(signal.SIGINT, signal.default_int_handler)


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
        limit = time.monotonic() + WAIT_LIMIT_SECONDS
        while daemon.get("/api/robot").json()["holder"] is not None:
            assert time.monotonic() < limit
            time.sleep(0.05)
    yield


def pytest_addoption(parser):
    parser.addoption("--record", action="store_true", help="test_recorded.py writes what it finds in place of what is recorded")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config):
    config.addinivalue_line("markers", "drives: moves the shared daemon's robot")
    config.addinivalue_line("markers", "protocol: a real client of one of the protocols does what it is for, or what is said is read from the sources; scripts/test runs these, --ci all")
    config.addinivalue_line("markers", "real_time: measures real time; scripts/test --real-time runs these alone")
    # A worker has what was set here before it was started.
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    if not worker:
        config.own_folder = Path(tempfile.mkdtemp(prefix="tactus-tests-"))
        # Programs that have become another account find the cache.
        config.own_folder.chmod(0o711)
        # Short: names of sockets have no more than 107 bytes.
        config.option.basetemp = config.option.basetemp or str(config.own_folder / "t")
        os.environ[FOLDER] = str(config.own_folder)
        os.environ[SHARED_CACHE] = str(config.own_folder / "cache")
    # For every process that a test starts without a word about its environment; a daemon's has a folder of its own besides.
    environment = own_environment(Path(os.environ[FOLDER]) / (worker or "main"))
    for name in set(os.environ) - set(environment):
        del os.environ[name]
    os.environ.update(environment)


def pytest_sessionfinish(session, exitstatus):
    session.config.has_failed = exitstatus not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)


def pytest_unconfigure(config):
    if not (folder := getattr(config, "own_folder", None)):
        return
    if getattr(config, "has_failed", True):
        print(f"what the tests have left lies in {folder}")
    else:
        shutil.rmtree(folder, ignore_errors=True)
