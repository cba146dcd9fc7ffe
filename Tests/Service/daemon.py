"""A daemon on simulated hardware, one for each configuration a test needs."""
import json
import os
import resource
import secrets
import subprocess
import time
from pathlib import Path

import requests

from apart import free_port, own_environment  # noqa: F401: `free_port` is asked for here

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(os.environ.get("TACTUS_PROGRAM", ROOT / ".build/debug/tactus"))
# Where the programs lie that only tests have: a debug build's may serve an optimised program.
PROBES = Path(os.environ.get("TACTUS_PROBES", PROGRAM.parent))
# These and the limits in other files bound how long a test waits for what must come, on a machine with many times more to do than it can. How long
# something may take is another question, and tests of it are marked `real_time`.
START_LIMIT_SECONDS = 120
STOP_LIMIT_SECONDS = 120
REQUEST_LIMIT_SECONDS = 60
WAIT_LIMIT_SECONDS = 60

CONFIG = """\
network:
  bind_address: 127.0.0.1
  motor_udp_port: 0
  leg_udp_port: 0
  rtsp_port: 0
  http_port: {port}
motors:
  backend: yb-pcb-car
  acceleration: 0
  command_timeout: {command_timeout}
leg:
  # A shared test machine may pause.
  deadman_ms: 10000
  output_enable: GPIO22
  battery:
    sensor: ads1115
store:
  folder: {folder}/state
sprinkler:
  time_zone: Europe/Berlin
  legacy_routes: true
  zones: [{{pin: 12}}, {{pin: 16}}, {{pin: 20}}, {{pin: 21}}]
plants:
  backend: sim
  read_period_s: 1
  sensors:
    - {{i2c_address: 0x36}}
    - {{i2c_address: 0x37}}
    - {{name: adc-0, chip: ads1115}}
    - {{name: spi-0, chip: mcp3008}}
  watering: [{{plant: 1, zone: 2, seconds: 30}}]
runtime:
  lock_memory: false
  sprinkler:
    scheduling: normal
    safe_state_after: 1000
  robot:
    scheduling: normal
    rate_hz: {robot_hz}
    # A shared test machine may pause: only silence and stops are tested here, not missed releases.
    safe_state_after: 1000
  leg:
    scheduling: normal
    safe_state_after: 1000
logging:
  level: INFO
service:
{service}
"""


def let_others_in(folder):
    """A folder of a test's own and those above it: of root's daemon the children are somebody else."""
    for one in [folder, *folder.parents]:
        if one.stat().st_uid != os.geteuid() or one.stat().st_mode & 0o011 == 0o011:
            break
        one.chmod(one.stat().st_mode & 0o7777 | 0o011)


class Daemon:
    """`tactus run --simulate`. `admin` is the token it was given by its environment, `more` is text for its configuration, `robot_hz` the
    rate of the motors' loop, `environment` is added to its environment, `open_files` is how many descriptors it may have, `prefix` is a
    command that runs it, `command_timeout` after how many seconds of silence the robot stops: more than one where that is not what is tried, since
    the test may be kept waiting itself."""

    def __init__(self, folder, more="", robot_hz=50, environment=None, open_files=None, prefix=(), command_timeout=1.0, **service):
        self.folder = Path(folder)
        self.program = PROGRAM
        self.prefix = prefix
        self.port = free_port()
        self.admin = secrets.token_hex(32)
        self.tokens = self.folder / "tokens.json"
        service = {"token_file": str(self.tokens), "bonjour": False, **service}
        lines = "\n".join(f"  {key}: {json.dumps(value)}" for key, value in service.items())
        self.config = self.folder / "tactus.yaml"
        self.config.write_text(CONFIG.format(
            port=self.port, service=lines, folder=self.folder, robot_hz=robot_hz, command_timeout=command_timeout) + "\n" + more)
        self.log_path = self.folder / "log"
        self.environment = environment or {}
        self.open_files = open_files
        self.process = None

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()

    options = ["--simulate"]
    # Where it is reached; what it listens on is in its configuration.
    host = "127.0.0.1"

    @property
    def address(self):
        return ("127.0.0.1", self.port)

    @property
    def url(self):
        return f"http://{self.host}:{self.port}"

    @property
    def ws_url(self):
        return f"ws://127.0.0.1:{self.port}/ws"

    def start(self):
        self.start_process()
        limit = time.monotonic() + START_LIMIT_SECONDS
        while True:
            assert self.process.poll() is None, f"tactus ended with {self.process.returncode}:\n{self.log}"
            try:
                if requests.get(self.url + "/api/health", timeout=REQUEST_LIMIT_SECONDS).status_code == 200:
                    return
            except requests.RequestException:
                pass
            assert time.monotonic() < limit, f"tactus does not listen after {START_LIMIT_SECONDS} s:\n{self.log}"
            time.sleep(0.02)

    def start_process(self):
        self.log_start = len(self.log) if self.log_path.exists() else 0
        def limit():
            resource.setrlimit(resource.RLIMIT_NOFILE, (self.open_files, self.open_files))

        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(
                [*self.prefix, self.program, "run", "--config", self.config, *self.options], stdin=subprocess.DEVNULL, stdout=log,
                stderr=log, env=self.own_environment(TACTUS_TOKEN=self.admin),
                preexec_fn=limit if self.open_files else None)

    def own_environment(self, **more):
        """What a program gets that is started on behalf of this daemon's test: `apart.own_environment` of its folder, and what this one was given."""
        return own_environment(self.folder, **{**self.environment, **more})

    def wait_for_line(self, text):
        limit = time.monotonic() + START_LIMIT_SECONDS
        while text not in self.log[self.log_start:]:
            assert self.process.poll() is None, f"tactus ended with {self.process.returncode}:\n{self.log}"
            assert time.monotonic() < limit, f"no {text} after {START_LIMIT_SECONDS} s:\n{self.log}"
            time.sleep(0.02)

    def stop(self):
        """Asks it to end and checks that it did so properly."""
        if self.process.poll() is None:
            self.process.terminate()
        try:
            status = self.process.wait(STOP_LIMIT_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise AssertionError(f"tactus did not end within {STOP_LIMIT_SECONDS} s of SIGTERM:\n{self.log}") from None
        assert status == 0, f"tactus ended with {status}:\n{self.log}"

    @property
    def log(self):
        return self.log_path.read_text(errors="replace")

    def request(self, method, path, token="", **options):
        """`token`: a token, None for none, nothing for the admin's."""
        headers = dict(options.pop("headers", {}))
        options.setdefault("timeout", REQUEST_LIMIT_SECONDS)
        if token is not None:
            headers.setdefault("Authorization", f"Bearer {token or self.admin}")
        return requests.request(
            method, self.url + path, headers=headers, allow_redirects=False, **options)

    def get(self, path, **options):
        return self.request("GET", path, **options)

    def post(self, path, json=None, **options):
        """A command that waited too long for its loop did nothing, and its answer asks to send it again, which is done here: the machine
        may be busy with other things than this daemon."""
        limit = time.monotonic() + START_LIMIT_SECONDS
        while True:
            answer = self.request("POST", path, json=json, **options)
            if answer.status_code != 409 or '"STALE"' not in answer.text or time.monotonic() > limit:
                return answer

    @property
    def motor_bus(self):
        """The name of the simulated bus that the motors are on."""
        return next(bus["name"] for bus in self.get("/api/sim/bus").json()["buses"] if bus["kind"] == "i2c")

    def transactions(self, name):
        """What is kept of a simulated bus, oldest first: an answer has one page of it."""
        since, found = 0, []
        while (page := self.get(f"/api/sim/bus/{name}?since={since}").json())["transactions"]:
            found += page["transactions"]
            since = page["next"]
        return found

    def until_robot(self, condition, limit=WAIT_LIMIT_SECONDS, again=None):
        """The robot's state once it is so. `again()` is done before each look: a stick that is held, so that a test that was kept waiting for longer
        than the failsafe allows sees its robot drive all the same."""
        end = time.monotonic() + limit
        while True:
            if again:
                again()
            if condition(robot := self.get("/api/robot").json()):
                return robot
            assert time.monotonic() < end, robot
            time.sleep(0.02)

    def free_robot(self):
        """The robot stands, and nobody has it."""
        self.reset()
        self.until_robot(lambda robot: robot["holder"] is None)

    def reset(self):
        """Leaves emergency stop and fault, once every stick has been silent for the failsafe timeout."""
        limit = time.monotonic() + WAIT_LIMIT_SECONDS
        while (answer := self.post("/api/robot/reset")).status_code != 200:
            code = answer.json()["code"]
            if code == "NOTHING_TO_RESET":
                return
            assert code in ("STICK_NOT_AT_ZERO", "STOP_NOT_CONFIRMED") and time.monotonic() < limit, answer.text
            time.sleep(0.05)

    def create_token(self, scope, name=None, *arguments):
        """As an operator does it, beside the running daemon; a name of its own unless one is given."""
        name = name or f"test {secrets.token_hex(4)}"
        made = self.command(
            "token", "create", "--config", self.config, "--scope", scope, "--name", name, *arguments)
        assert made.returncode == 0, made.stderr
        return made.stdout.strip()

    def command(self, *arguments, **options):
        """Runs another `tactus` beside the daemon."""
        return subprocess.run(
            [PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=START_LIMIT_SECONDS, stdin=subprocess.DEVNULL,
            env=own_environment(self.folder, **options.pop("environment", {})), **options)
