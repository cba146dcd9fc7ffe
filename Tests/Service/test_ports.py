"""Ports that another program has: the start names the file's key and that program."""
import os
import resource
import socket

import pytest

from daemon import Daemon, free_port

# The key, how many ports above it the one is that is taken, its kind.
PORTS = [
    ("network.http_port", 0, socket.SOCK_STREAM),
    ("network.motor_udp_port", 0, socket.SOCK_DGRAM),
    ("network.leg_udp_port", 1, socket.SOCK_DGRAM),
]


def taken(kind):
    owner = socket.socket(type=kind)
    owner.bind(("127.0.0.1", 0))
    if kind == socket.SOCK_STREAM:
        owner.listen()
    return owner


def words(key, owner, kind):
    with open("/proc/self/comm") as name:
        own = name.read().strip()
    protocol = "TCP" if kind == socket.SOCK_STREAM else "UDP"
    return f"{key}: {protocol} port {owner.getsockname()[1]} is taken by {own} (pid {os.getpid()})"


def with_port(daemon, key, port):
    """Sets the port in the file that the daemon starts with."""
    name = key.split(".")[1]
    lines = [f"  {name}: {port}" if line.startswith(f"  {name}:") else line for line in daemon.config.read_text().splitlines()]
    daemon.config.write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize("key, above, kind", PORTS)
def test_a_port_that_is_taken_at_start_ends_it_with_key_and_owner(tmp_path, key, above, kind):
    daemon = Daemon(tmp_path, more="legs: [{channel: 0}, {channel: 1}]")
    with taken(kind) as owner:
        with_port(daemon, key, owner.getsockname()[1] - above)
        daemon.start_process()
        assert daemon.process.wait(120) == 1
        assert words(key, owner, kind) in daemon.log


@pytest.mark.parametrize("key, above, kind", PORTS)
def test_beside_ten_thousand_sockets_the_owner_is_still_found(tmp_path, key, above, kind):
    """The kernel's table of sockets is longer than a megabyte then."""
    many = 10_000
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < many + 1000:
        pytest.skip(f"needs {many + 1000} descriptors, this machine allows {hard}")
    resource.setrlimit(resource.RLIMIT_NOFILE, (many + 1000, hard))
    others = []
    try:
        for _ in range(many):
            others.append(socket.socket(type=kind))
            # Every one of 127.0.0.0/8 has ports of its own.
            others[-1].bind((f"127.1.0.{1 + len(others) % 250}", 0))
            if kind == socket.SOCK_STREAM:
                others[-1].listen(1)
        test_a_port_that_is_taken_at_start_ends_it_with_key_and_owner(tmp_path, key, above, kind)
    finally:
        for other in others:
            other.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_taken_rtsp_port_is_named_with_its_owner_and_the_rest_runs(tmp_path):
    daemon = Daemon(tmp_path, more="camera: {source: test}")
    with taken(socket.SOCK_STREAM) as owner:
        with_port(daemon, "network.rtsp_port", owner.getsockname()[1])
        with daemon:
            daemon.wait_for_line(words("network.rtsp_port", owner, socket.SOCK_STREAM))


def test_two_parts_of_one_file_that_want_one_port_are_refused(tmp_path):
    daemon = Daemon(tmp_path, more="mqtt: {broker: spawn, port: 8554}")
    with_port(daemon, "network.rtsp_port", 8554)
    daemon.config.write_text(daemon.config.read_text() + "camera: {source: test}\n")
    checked = daemon.command("check", daemon.config)
    assert checked.returncode == 78
    assert "mqtt.port: expected one owner of TCP port 8554" in checked.stderr
