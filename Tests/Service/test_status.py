"""What the service manager is told of a daemon."""
import os
import socket
import subprocess

import pytest

from daemon import PROGRAM, free_port

LIMIT_SECONDS = 120
FILES = {
    "a sprinkler alone": (
        "network: {http_port: %(http)d}\nsprinkler: {backend: sim}\nstore: {folder: %(folder)s}\nservice: {token_file: %(folder)s/t}\n",
        "STATUS=runs sprinkler; listens on http://127.0.0.1:%(http)d"),
    "a sprinkler without the service": (
        "service: {enabled: false}\nsprinkler: {backend: sim}\nstore: {folder: %(folder)s}\n", "STATUS=runs sprinkler"),
    "a robot and a leg": (
        "network: {http_port: %(http)d, motor_udp_port: %(udp)d, leg_udp_port: %(leg)d}\nmotors: {backend: sim}\nleg: {backend: sim}\n"
        "service: {token_file: %(folder)s/t}\n",
        "STATUS=runs robot, leg; listens on http://127.0.0.1:%(http)d, UDP 127.0.0.1:%(udp)d, UDP 127.0.0.1:%(leg)d"),
}


@pytest.mark.parametrize("name", FILES)
def test_the_status_says_what_runs_and_where(tmp_path, name):
    text, expected = FILES[name]
    values = {"http": free_port(), "udp": free_port(), "leg": free_port(), "folder": tmp_path}
    config = tmp_path / "tactus.yaml"
    config.write_text(text % values)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(tmp_path / "notify"))
        manager.settimeout(LIMIT_SECONDS)
        daemon = subprocess.Popen(
            [PROGRAM, "run", config, "--simulate"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, "NOTIFY_SOCKET": str(tmp_path / "notify")})
        try:
            told = manager.recv(4096).decode().splitlines()
        finally:
            daemon.terminate()
            assert daemon.wait(LIMIT_SECONDS) == 0
    assert "READY=1" in told and expected % values in told, told
