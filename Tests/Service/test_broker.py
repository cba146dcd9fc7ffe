"""A broker of the daemon's own (`broker: spawn`) beside a stranger's on the same port: nobody but our own child is obeyed."""
import os
import signal
import subprocess

import pytest

import broker
from daemon import Daemon, free_port, let_others_in
from test_children import child, until

pytestmark = broker.needed

COMMAND = "tactus/probe/sprinkler/zone/1/command"
ON = '{"command": "on", "minutes": 5}'


class Stranger(broker.Broker):
    """Somebody else's mosquitto on a port of ours, which lets everybody in and notes who came."""

    def __init__(self, folder, port):
        super().__init__(folder)
        self.port = port
        self.log = folder / "stranger.log"
        # Run by root it becomes mosquitto, and cannot make this file.
        self.log.touch()
        self.log.chmod(0o666)
        self.config.write_text(
            f"listener {port} 127.0.0.1\nallow_anonymous true\nlog_dest file {self.log}\nlog_type all\nconnection_messages true\n")

    def take_the_port(self):
        """Also if another has it for a moment longer."""
        def takes():
            self.start()
            try:
                return self.process.wait(0.5) is None
            except subprocess.TimeoutExpired:
                return True
        until(takes, "the stranger does not get the port")

    @property
    def visitors(self):
        """Of the daemon's, which has a name of its own."""
        return [line for line in self.log.read_text().splitlines() if "New client connected" in line and " as tactus" in line]

    def orders_water(self):
        self.publish(COMMAND, ON)
        subprocess.run(["mosquitto_pub", "-p", str(self.port), "-r", "-t", COMMAND, "-m", ON], check=True)


@pytest.fixture
def spawning(tmp_path):
    let_others_in(tmp_path)
    port = free_port()
    daemon = Daemon(
        tmp_path, more=f"mqtt: {{broker: spawn, port: {port}, device: probe, commands: true, user: ann, password: secret, keepalive_s: 5}}\n",
        environment={"HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path)})
    stranger = Stranger(tmp_path, port)
    yield daemon, stranger
    if daemon.process and daemon.process.poll() is None:
        daemon.stop()
    if stranger.process and stranger.process.poll() is None:
        stranger.stop()


def mqtt(daemon):
    return daemon.get("/api/mqtt").json()


def trouble(daemon):
    """What `/api/health` says of the broker; nothing if that is well."""
    health = daemon.get("/api/health").json()
    return health["message"] if health.get("code") == "BROKER_FAILED" else ""


def is_not_obeyed(daemon, stranger):
    """The stranger has the port: it is told of everywhere, and nothing that it sends is done."""
    def told():
        failure = mqtt(daemon)["spawned"]["lastFailure"] or ""
        return failure if "mqtt.port" in failure else None
    failure = until(told, mqtt(daemon))
    assert f"mqtt.port: TCP port {stranger.port} is taken by " in failure, failure
    # Until the daemon has looked again, it tells of the death before.
    until(lambda: failure in trouble(daemon), daemon.get("/api/health").text)
    until(lambda: "the MQTT broker of our own" in daemon.log and failure in daemon.log, "not in the log")
    stranger.orders_water()
    # It is tried again meanwhile.
    starts = mqtt(daemon)["spawned"]["starts"]
    until(lambda: mqtt(daemon)["spawned"]["starts"] > starts, "not tried again")
    assert mqtt(daemon)["connected"] is False
    assert stranger.visitors == []
    assert [zone["isOn"] for zone in daemon.get("/api/sprinkler").json()["zones"]] == [False] * 4
    return failure


def comes_back(daemon, stranger):
    """With the stranger's end, both connections."""
    connections = mqtt(daemon)["connections"]
    stranger.stop()
    until(lambda: mqtt(daemon)["connected"] and mqtt(daemon)["connections"] == connections + 2, mqtt(daemon))
    until(lambda: not trouble(daemon), daemon.get("/api/health").text)
    # It is our own, and takes commands from who has the password.
    subprocess.run(["mosquitto_pub", "-p", str(stranger.port), "-u", "ann", "-P", "secret", "-t", COMMAND, "-m", ON], check=True)
    until(lambda: daemon.get("/api/sprinkler").json()["zones"][0]["isOn"], "not obeyed")


def test_a_stranger_had_the_port_before_its_broker_is_not_connected_to_and_is_named(spawning):
    daemon, stranger = spawning
    stranger.take_the_port()
    daemon.start()
    failure = is_not_obeyed(daemon, stranger)
    # As far as /proc tells this test's user.
    process = stranger.process.pid
    if os.access(f"/proc/{process}/fd", os.R_OK):
        assert f"mosquitto (pid {process})" in failure, failure
    comes_back(daemon, stranger)


def test_a_stranger_that_takes_the_port_of_a_broker_that_died_is_not_connected_to(spawning):
    daemon, stranger = spawning
    daemon.start()
    until(lambda: mqtt(daemon)["connected"], mqtt(daemon))
    os.kill(child(daemon.process.pid, "mosquitto", "/proc/self/fd/4"), signal.SIGKILL)
    stranger.take_the_port()
    assert is_not_obeyed(daemon, stranger)
    comes_back(daemon, stranger)


def test_what_listens_at_the_brokers_own_socket_and_is_not_its_process_is_not_obeyed(spawning):
    daemon, stranger = spawning
    daemon.start()
    until(lambda: mqtt(daemon)["connected"], mqtt(daemon))
    own = child(daemon.process.pid, "mosquitto", "/proc/self/fd/4")
    folder = os.open(f"/proc/{own}/fd/7", os.O_PATH)
    # Another process of its account, in the place of its socket. The broker keeps the port, and hangs: the connection is lost.
    stranger.config.write_text(
        f"listener 0 /proc/self/fd/{folder}/broker\nallow_anonymous true\nlog_dest file {stranger.log}\nlog_type all\nconnection_messages true\n")
    os.kill(own, signal.SIGSTOP)
    try:
        stranger.process = subprocess.Popen(
            ["/usr/sbin/mosquitto", "-c", stranger.config], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, pass_fds=[folder],
            **({"user": os.stat(folder).st_uid, "extra_groups": []} if os.geteuid() == 0 else {}))
        told = f"process {stranger.process.pid}, which is not our own mosquitto, listens in its place"
        until(lambda: told in (mqtt(daemon)["lastFailure"] or ""), mqtt(daemon))
        assert mqtt(daemon)["connected"] is False and stranger.visitors == []
        until(lambda: told in daemon.log, "not in the log")
    finally:
        os.kill(own, signal.SIGKILL)
        os.close(folder)
    stranger.stop()
    until(lambda: mqtt(daemon)["connected"], mqtt(daemon))
