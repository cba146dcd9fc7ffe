"""An update that undoes itself: config/tactus-update with the real program, and `tactus healthy` of a daemon and of none."""
import http.server
import json
import os
import shutil
import stat
import subprocess
import threading

import pytest

from daemon import PROGRAM, ROOT, free_port

UPDATE = ROOT / "config" / "tactus-update"


def healthy(daemon, *arguments):
    return daemon.command("healthy", "--port", daemon.port, "--steady", "1s", *arguments)


def test_a_daemon_is_healthy_with_every_system_named(daemon):
    answer = healthy(daemon, "--within", "20s")
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.startswith("healthy: tactus ") and "robot " in answer.stdout and "sprinkler " in answer.stdout


def test_no_daemon_and_another_service_are_not_healthy_and_say_why(daemon):
    answer = daemon.command("healthy", "--port", free_port(), "--within", "1s", "--steady", "1ms")
    assert answer.returncode == 1 and answer.stdout == ""
    assert answer.stderr == "not healthy: the daemon does not answer: Connection refused, after 1 s\n"


def test_a_daemon_without_its_store_is_not_healthy_but_its_loops_are(own_daemon):
    daemon = own_daemon()
    store = daemon.folder / "state" / "simulated" / "store.sqlite"
    daemon.stop()
    kept = store.rename(store.with_name("kept"))
    store.mkdir()
    daemon.start()
    answer = healthy(daemon, "--within", "3s")
    assert answer.returncode == 1 and answer.stderr.startswith("not healthy: degraded: "), answer.stderr
    assert answer.stderr.count("\n") == 1
    assert healthy(daemon, "--within", "20s", "--loops-only").returncode == 0
    store.rmdir()
    kept.rename(store)


class Health(http.server.BaseHTTPRequestHandler):
    """A daemon of another version."""

    def do_GET(self):
        body = json.dumps({"ok": True, "status": "ok", "version": "0.0.1", "systems": {"robot": "stopped"}}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def test_the_daemon_before_the_update_that_still_runs_is_not_healthy(daemon):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Health)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        port = server.server_address[1]
        answer = daemon.command("healthy", "--port", port, "--within", "1s", "--steady", "1ms")
        assert answer.returncode == 1 and "was expected, version 0.0.1 answers" in answer.stderr, answer.stderr
        assert daemon.command("healthy", "--port", port, "--steady", "1ms", "--any-version").returncode == 0
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture
def installed(own_daemon):
    """A daemon that is started by what a link names, and the command that restarts it."""
    daemon = own_daemon()
    daemon.stop()
    program = daemon.folder / "bin" / "tactus"
    program.parent.mkdir()
    shutil.copy2(PROGRAM, program)
    restart = daemon.folder / "restart"
    # The service manager of this test: at most one daemon, which outlives the script.
    restart.write_text(
        "#!/bin/sh\n"
        f"pid={daemon.folder}/pid\n"
        '[ ! -f "$pid" ] || { kill "$(cat "$pid")" 2>/dev/null; while kill -0 "$(cat "$pid")" 2>/dev/null; do sleep 0.1; done; }\n'
        f"{program} run --simulate --config {daemon.config} >>{daemon.folder}/service.log 2>&1 </dev/null &\n"
        'echo $! >"$pid"\n')
    restart.chmod(restart.stat().st_mode | stat.S_IXUSR)

    def update(new):
        return subprocess.run(
            [UPDATE, new, "--port", str(daemon.port), "--within", "20s", "--steady", "1s"],
            capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL,
            env={**os.environ, "TACTUS_INSTALLED": str(program), "TACTUS_RESTART": str(restart)})

    yield daemon, program, update
    try:
        os.kill(int((daemon.folder / "pid").read_text()), 15)
    except (FileNotFoundError, ProcessLookupError):
        pass


def test_an_update_that_starts_stays_and_one_that_does_not_is_undone(installed):
    daemon, program, update = installed
    answer = update(PROGRAM)
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.startswith("healthy: ")
    broken = daemon.folder / "broken"
    # It can say that it is not healthy, and does not run.
    broken.write_text(f'#!/bin/sh\n[ "$1" != run ] || exit 1\nexec {PROGRAM} "$@" --within 1s --steady 1ms\n')
    answer = update(broken)
    assert answer.returncode == 1, answer.stderr
    assert "not healthy: the daemon does not answer" in answer.stderr and "going back to" in answer.stderr
    assert program.read_bytes() == PROGRAM.read_bytes()
    assert healthy(daemon, "--within", "20s").returncode == 0
    assert update(daemon.folder / "nothing").returncode == 64
