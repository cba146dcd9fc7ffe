"""What is printed after a start, and the commands that the documents show, pasted one after the other as a newcomer would: each does what it says.

A network of its own, so that the files are tried as they are, with the ports that they name."""
import json
import os
import pty
import re
import select
import shutil
import signal
import socket
import subprocess
import time

import pytest

from daemon import PROGRAM, ROOT, own_environment

LIMIT_SECONDS = 120
# A stick that is held for a second by a shell that was kept waiting moves nothing, or is over before anybody looks.
TRIES = 5
# These go on until somebody ends them: what each has shown by then.
ENDLESS = {
    "drive 127.0.0.1": "q quit", " top ": "robot", "ffplay": "Video: h264", "mosquitto_sub": "tactus/demo/",
}
TOOLS = {"mosquitto_sub": "mosquitto-clients", "mosquitto": "mosquitto", "ffplay": "ffmpeg", "curl": "curl", "nsenter": "util-linux"}
HAS_TOOLS = all(shutil.which(tool, path=os.environ["PATH"] + ":/usr/sbin") for tool in TOOLS)

pytestmark = [
    pytest.mark.skipif(os.geteuid() != 0, reason="only root has a network of its own whose broker becomes another user"),
    pytest.mark.skipif(not HAS_TOOLS, reason=f"one of {', '.join(TOOLS.values())} is not installed"),
]
# The machine's address on no network, by which a page is reached that listens beyond 127.0.0.1.
ADDRESS = "192.0.2.7"
UP = f"""
import fcntl, socket, struct, time
s = socket.socket()
fcntl.ioctl(s, 0x8914, struct.pack("16sh", b"lo", 0x49))
fcntl.ioctl(s, 0x8916, struct.pack("16sHH4s8x", b"lo:1", socket.AF_INET, 0, socket.inet_aton("{ADDRESS}")))
print("up", flush=True)
time.sleep(9999)
"""

# The way in that a daemon of this machine's, a service of systemd, has left for root's commands: none of a newcomer's line may go there.
HIDE = 'if [ -d /run/tactus ]; then mount -t tmpfs tmpfs /run/tactus; fi; exec python3 -c "$0"'


class Newcomer:
    """A terminal with a daemon on config/simulated.yaml, or `config`, started as scripts/run does it, and another terminal beside it."""

    def __init__(self, folder, config="config/simulated.yaml"):
        self.folder = folder
        self.config = config
        (folder / ".build").mkdir()
        (folder / ".build/release").symlink_to(PROGRAM.parent)
        (folder / "config").symlink_to(ROOT / "config")
        self.environment = own_environment(
            folder, PATH=f"{PROGRAM.parent}:{os.environ['PATH']}", TERM="xterm", SDL_VIDEODRIVER="dummy", SDL_AUDIODRIVER="dummy")
        self.network = subprocess.Popen(["unshare", "--net", "--mount", "bash", "-c", HIDE, UP], stdout=subprocess.PIPE, text=True)
        assert self.network.stdout.readline() == "up\n"
        self.daemon = None

    def __enter__(self):
        self.daemon = subprocess.Popen(
            self.inside([PROGRAM, "run", "--config", self.config, "--simulate", "--log-format", "text"]), cwd=self.folder,
            env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        return self

    def __exit__(self, *_):
        self.daemon.terminate()
        try:
            self.daemon.wait(LIMIT_SECONDS)
        finally:
            self.network.kill()
            self.network.wait()

    def inside(self, words):
        return ["nsenter", "--target", str(self.network.pid), "--net", "--mount", f"--wd={self.folder}", *map(str, words)]

    def start_again(self):
        self.daemon.terminate()
        self.daemon.wait(LIMIT_SECONDS)
        self.__enter__()

    def printed(self):
        """All that is printed until the last line of the advice; what is logged later is left alone."""
        lines = []
        while not (lines and lines[-1].startswith("Ctrl-C")):
            line = self.daemon.stdout.readline()
            assert line, self.daemon.stderr.read()
            lines.append(line.rstrip("\n"))
        return lines

    def get(self, path):
        answer = subprocess.run(
            self.inside(["curl", "-s", f"http://127.0.0.1:8000{path}"]), capture_output=True, text=True, timeout=LIMIT_SECONDS)
        return json.loads(answer.stdout)

    def paste(self, line):
        """Types the line at a terminal. Its exit status, and all that it has shown; one that is endless is interrupted once it has shown what
        it is for."""
        awaited = next((shown for word, shown in ENDLESS.items() if word in line and " --for " not in line), None)
        terminal, other = pty.openpty()
        process = subprocess.Popen(
            self.inside(["bash", "-c", line]), cwd=self.folder, env=self.environment, stdin=other, stdout=other, stderr=other,
            start_new_session=True, preexec_fn=lambda: __import__("fcntl").ioctl(0, 0x540E, 0))
        os.close(other)
        said, interrupted, end = "", False, time.monotonic() + LIMIT_SECONDS
        while True:
            assert time.monotonic() < end, (line, said)
            if select.select([terminal], [], [], 0.1)[0]:
                try:
                    part = os.read(terminal, 65536)
                except OSError:
                    break
                if not part:
                    break
                said += part.decode(errors="replace")
            if awaited and awaited in said and not interrupted:
                interrupted = True
                os.write(terminal, b"\x03")
            if process.poll() is not None and not select.select([terminal], [], [], 0)[0]:
                break
        os.close(terminal)
        assert not awaited or interrupted, (line, said)
        return process.wait(LIMIT_SECONDS), said

    def must_do(self, line):
        """Pastes a line as soon as the one before it is done, and judges it by what kind it is."""
        driven = self.driven()
        if line.split("  #")[0].rstrip().endswith("reset"):
            # The wheels are told to stop at once, and say so when the loop has had a turn.
            self.until(lambda: self.get("/api/robot")["stopConfirmed"])
        status, said = self.paste(line)
        line = line.split("  #")[0]
        # Who interrupts a player or a subscriber has ended it as it is meant.
        assert status == 0 or status in (123, 130, 255) and line.startswith(("ffplay", "mosquitto_sub")), (line, status, said)
        if "curl" in line and "-o now.jpg" in line:
            assert (self.folder / "now.jpg").read_bytes().startswith(b"\xff\xd8")
        elif "curl" in line and line.rstrip().endswith("/metrics"):
            assert "tactus_" in said
        elif "curl" in line:
            answer = json.loads(said)
            # What a loop that was kept waiting did not do, and what it has not confirmed yet, is asked for once more, as the answer says.
            for _ in range(TRIES):
                if answer.get("code") not in ("STALE", "STOP_NOT_CONFIRMED"):
                    break
                time.sleep(1)
                status, said = self.paste(line)
                answer = json.loads(said)
            assert answer.get("ok", True) is True and "code" not in answer, (line, said)
        elif "5010)" in line:
            self.try_again(line, self.leg_has_moved)
        elif "e-stop" in line:
            self.until(lambda: self.get("/api/robot")["emergencyStopped"])
        elif line.rstrip().endswith("reset"):
            assert not self.get("/api/robot")["emergencyStopped"]
        elif "5005)" in line:
            # It has waited until the wheels stood again.
            self.try_again(line, lambda: self.driven() > driven)
            self.until(lambda: self.get("/api/robot")["speedsPercent"]["left"] == 0)

    def driven(self):
        """How often the motors have been told a command that was taken."""
        return self.get("/api/robot")["counters"]["accepted"]

    def leg_has_moved(self):
        leg = self.get("/api/leg")["legs"][0]
        return leg["state"] == "disarmed" and leg["error"] == "none"

    def try_again(self, line, condition):
        """Whether the line does it, soon after it has been pasted; if not it is pasted once more."""
        for _ in range(TRIES):
            end = time.monotonic() + 1
            while True:
                if condition():
                    return
                if time.monotonic() > end:
                    break
                time.sleep(0.02)
            status, said = self.paste(line)
            assert status == 0, (line, status, said)
        raise AssertionError((line, self.get("/api/robot"), self.get("/api/leg")))

    def until(self, condition):
        end = time.monotonic() + LIMIT_SECONDS
        while not condition():
            assert time.monotonic() < end
            time.sleep(0.02)


def commands(text, prefix):
    """Lines that begin with a prefix, without it."""
    return [line[len(prefix):].strip() for line in text.splitlines() if re.match(re.escape(prefix) + r"\S", line)]


@pytest.mark.protocol
def test_every_line_that_is_printed_after_the_start_works(tmp_path):
    with Newcomer(tmp_path) as newcomer:
        printed = newcomer.printed()
        page, = (number for number, line in enumerate(printed) if line == "Console: http://127.0.0.1:8000/")
        assert page < next(number for number, line in enumerate(printed) if line.startswith("  ")), "first where the page is"
        lines = commands("\n".join(printed), "  ")
        assert len(lines) > 15, lines
        for line in lines:
            newcomer.must_do(line)


@pytest.mark.protocol
def test_with_tokens_the_printed_lines_work_in_one_terminal(tmp_path):
    """One of them sets the token that the others use, and no line and nothing that they say shows it."""
    own = tmp_path / "tokens.yaml"
    text = (ROOT / "config/simulated.yaml").read_text()
    assert "auth: none" in text
    own.write_text(text.replace("auth: none", "auth: tokens"))
    with Newcomer(tmp_path, config="tokens.yaml") as newcomer:
        lines = commands("\n".join(newcomer.printed()), "  ")
        sets = [line for line in lines if line.startswith("export TACTUS_TOKEN=")]
        curls = [line for line in lines if line.startswith("curl")]
        assert len(sets) == 1 and lines.index(sets[0]) < lines.index(curls[0]), lines
        paths = set(re.findall(r"(?:^|[ (=])((?:[^ ()\n]*/)?tactus) (?=drive|token|top)", "\n".join(lines), re.M))
        assert len(paths) == 1, f"one program is printed under one path: {paths}"
        # Twice, as after another start.
        script = "\n".join([*sets, *sets, *(f"{line}; echo; echo '=== {number}'" for number, line in enumerate(curls)), "printf %s \"$TACTUS_TOKEN\" > secret"])
        (tmp_path / "pasted").write_text(script)
        status, said = newcomer.paste("bash pasted")
        secret = (tmp_path / "secret").read_text()
        assert status == 0 and len(secret) >= 16 and secret not in said, said
        for refusal in ("TOKEN_", "SCOPE_DENIED", "STICK_NOT_AT_ZERO"):
            assert refusal not in said, said
        assert "tactus_" in said and said.count('"ok":true') > 4, said
        if any("-o now.jpg" in line for line in curls):
            assert (tmp_path / "now.jpg").read_bytes().startswith(b"\xff\xd8")


def test_the_line_that_makes_a_phone_s_token_works_at_every_start(tmp_path):
    own = tmp_path / "tokens.yaml"
    own.write_text((ROOT / "config/simulated.yaml").read_text().replace("auth: none", "auth: tokens"))
    with Newcomer(tmp_path, config="tokens.yaml") as newcomer:
        for name in ("phone", "phone-2", "phone-3"):
            line, = (line for line in commands("\n".join(newcomer.printed()), "  ") if f"token create --name {name} " in line)
            status, said = newcomer.paste(line)
            assert status == 0 and f"({name}, control)" in said, said
            newcomer.start_again()


@pytest.mark.protocol
def test_beyond_loopback_the_start_says_where_others_find_the_page_and_its_line_makes_a_phone_s_ticket(tmp_path):
    own = tmp_path / "open.yaml"
    text = (ROOT / "config/simulated.yaml").read_text().replace("auth: none", "auth: tokens")
    assert "bind_address: 127.0.0.1" in text
    own.write_text(text.replace("bind_address: 127.0.0.1", "bind_address: 0.0.0.0"))
    with Newcomer(tmp_path, config="open.yaml") as newcomer:
        printed = newcomer.printed()
        name = socket.gethostname().split(".")[0]
        assert f"From another machine: http://{name}.local:8000/ or http://{ADDRESS}:8000/" in printed, printed
        assert any(line.startswith("Console: http://127.0.0.1:8000/ ") for line in printed), printed
        line, = (line for line in commands("\n".join(printed), "  ") if " --qr " in line)
        status, said = newcomer.paste(line)
        found = re.search(rf"http://{re.escape(ADDRESS)}:8000/#/ticket/(\S+)", said)
        assert status == 0 and found and "for my-phone, control" in said, said
        status, said = newcomer.paste(f"curl -s http://{ADDRESS}:8000/api/ticket --json '{{\"ticket\": \"{found[1]}\"}}'")
        assert status == 0 and json.loads(said)["token"], said


def test_no_printed_line_holds_a_password_and_its_file_is_closed_to_others(tmp_path):
    with Newcomer(tmp_path) as newcomer:
        printed = "\n".join(newcomer.printed())
        assert " -P " not in printed
        folder = re.search(r"XDG_CONFIG_HOME=(\S+)", printed)[1]
        login = tmp_path.__class__(folder) / "mosquitto_pub"
        assert login.read_text() == "-u demo\n-P demo\n" and login.stat().st_mode & 0o777 == 0o600


def test_the_start_is_told_in_short_lines(tmp_path):
    with Newcomer(tmp_path) as newcomer:
        newcomer.printed()
        newcomer.daemon.terminate()
        confined = next(line for line in newcomer.daemon.stderr.read().splitlines() if "confined" in line)
        assert len(confined) <= 140, confined


DOCUMENTS = {
    "README.md": ("    ", r"^    scripts/"), "config/simulated.yaml": ("#   ", r"tactus run "), "docs/mqtt.md": ("    ", r"^$"),
}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_line_of_a_document_for_the_simulation_works(tmp_path, name):
    prefix, others = DOCUMENTS[name]
    text = (ROOT / name).read_text()
    if name == "README.md":
        text = text[:text.index("## Four ways to use it")]
    lines = [line for line in commands(text, prefix) if not re.search(others, prefix + line)]
    assert len(lines) >= 3, lines
    with Newcomer(tmp_path) as newcomer:
        newcomer.printed()
        for line in lines:
            newcomer.must_do(line)
