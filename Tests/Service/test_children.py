"""What the processes that the daemon starts have and may do: standard streams, environment, account, capabilities, files, system calls."""
import ctypes
import json
import os
import re
import signal
import struct
import subprocess
import time
from pathlib import Path

import pytest

from daemon import PROGRAM, ROOT, Daemon, free_port, let_others_in, own_environment

LIMIT_SECONDS = 60
FOLDER = Path(PROGRAM).parent
HAS_VIDEO = (FOLDER / "tactus-video").exists() and "without the trait" not in subprocess.run(
    [FOLDER / "tactus-video"], capture_output=True, text=True).stderr
HAS_BROKER = Path("/usr/sbin/mosquitto").exists()
# The kernel's version of it; less than 1: it has none.
LANDLOCK = ctypes.CDLL(None).syscall(444, None, 0, 1)
NEUTRAL = bytes.fromhex("55000901307f4600aa55000901327f4400aa")
NOBODY = 65534


def until(condition, what):
    end = time.monotonic() + LIMIT_SECONDS
    while not (found := condition()):
        assert time.monotonic() < end, what
        time.sleep(0.02)
    return found


def status(process):
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return {line.split(":")[0]: line.split(":")[1].split() for line in lines}


def is_confined(process):
    """Whether it has a filter of its own behind that of the spawner, which it starts with."""
    return int(status(process)["Seccomp_filters"][0]) >= int(status("self")["Seccomp_filters"][0]) + 2


def environment(process):
    entries = Path(f"/proc/{process}/environ").read_bytes().split(b"\0")
    return {entry.split(b"=")[0].decode(): entry.split(b"=", 1)[1].decode() for entry in entries if b"=" in entry}


def seen(process, name):
    """Status, command line and environment of a process that has this name; `None` if it has not, or is gone by now."""
    try:
        now = status(process)
        return (now, words(process), environment(process)) if now["Name"][0].startswith(name) else None
    except (FileNotFoundError, ProcessLookupError):
        return None


def children(process):
    found = []
    for task in Path(f"/proc/{process}/task").iterdir():
        try:
            found += [int(child) for child in (task / "children").read_text().split()]
        except OSError:
            pass
    return found


def words(process):
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes().decode().split("\0")
    except OSError:
        return []


def child(parent, *wanted):
    """The child of a process with these words in its command line."""
    def find():
        return next((one for one in children(parent) if all(any(w in word for word in words(one)) for w in wanted)), None)
    return until(find, f"no {wanted} among {[words(one) for one in children(parent)]}")


def as_user(user, streams=()):
    """What the child does before it starts the program: becomes that user, closes these of its streams."""
    def prepare():
        if user is not None:
            os.setgroups([])
            os.setgid(user)
            os.setuid(user)
        for stream in streams:
            os.close(stream)
    return prepare


USERS = [None] + ([NOBODY] if os.geteuid() == 0 else [])


# ---- standard streams

@pytest.mark.parametrize("closed", [(0,), (1,), (2,), (0, 1, 2)], ids=str)
def test_with_closed_standard_streams_the_motors_line_gets_nothing_but_its_protocol(tmp_path, closed):
    master, slave = os.openpty()
    os.set_blocking(master, False)
    line = os.ttyname(slave)
    # Raw, as the program makes it: nothing is echoed back before that.
    subprocess.run(["stty", "-F", line, "raw", "-echo"], check=True)
    config = tmp_path / "tactus.yaml"
    config.write_text(
        f"network: {{motor_udp_port: 0, http_port: 0}}\nmotors: {{backend: xgo-rider, serial_device: {line}}}\n"
        f"runtime: {{lock_memory: false, robot: {{scheduling: normal}}}}\nstore: {{folder: {tmp_path}/state}}\n"
        f"service: {{token_file: {tmp_path}/tokens.json, bonjour: false}}\nlogging: {{level: DEBUG}}\n")
    os.close(slave)
    with open(tmp_path / "log", "ab") as log:
        daemon = subprocess.Popen(
            [PROGRAM, "run", "--config", config], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            preexec_fn=as_user(None, closed))
    try:
        guard = child(daemon.pid, "guard", line)
        written = b""

        def hear():
            nonlocal written
            try:
                written += os.read(master, 4096)
            except OSError:
                pass
            return written

        # The loop has written its first stop; the guard has opened its own descriptor.
        until(lambda: len(hear()) >= 9, "no stop")
        until(lambda: is_confined(guard), "the guard is not confined")
        for process in (daemon.pid, guard):
            for stream in range(3):
                target = os.readlink(f"/proc/{process}/fd/{stream}")
                expected = "/dev/null" if stream in closed or stream == 0 else str(tmp_path / "log")
                assert target == expected, (process, stream, target)
        # The guard has something to say now: in its log, or nowhere.
        daemon.send_signal(signal.SIGKILL)
        daemon.wait()
        until(lambda: not Path(f"/proc/{guard}").exists() or status(guard)["State"][0] == "Z", "the guard does not end")
        hear()
        rest = written
        while rest:
            length = rest[2]
            assert rest[:2] == b"\x55\x00" and rest[length - 2:length] == b"\x00\xaa", (written, rest)
            rest = rest[length:]
        assert written.endswith(NEUTRAL), written
        if 2 not in closed:
            assert "every actuator was sent its safe state" in (tmp_path / "log").read_text()
    finally:
        if daemon.poll() is None:
            daemon.kill()
            daemon.wait()
        os.close(master)


def runs_first(program):
    """Whether the loader runs a list of the program's own before the initialisers of its libraries: DT_PREINIT_ARRAYSZ."""
    data = program.read_bytes()
    assert data[:5] == b"\x7fELF\x02", program
    table, size, count = struct.unpack_from("<Q", data, 32)[0], *struct.unpack_from("<HH", data, 54)
    for index in range(count):
        kind, _, offset, _, _, length = struct.unpack_from("<IIQQQQ", data, table + index * size)
        if kind == 2:  # PT_DYNAMIC
            return any(tag == 33 and value > 0 for tag, value in struct.iter_unpack("<QQ", data[offset:offset + length]))
    return False


def programs():
    text = (ROOT / "Package.swift").read_text()
    products = dict((target, name) for name, target in re.findall(r'\.executable\(name: "([^"]+)", targets: \["([^"]+)"\]', text))
    # An embedder's program has nothing of ours but the libraries, and a build's tool runs in builds alone.
    others = ["guard-probe", "client-probe", "ProvedTicksTool"]
    names = [name for name in re.findall(r'\.executableTarget\(\s*name: "([^"]+)"', text) if name not in others]
    return [products.get(name, name) for name in names]


@pytest.mark.parametrize("name", programs())
def test_every_program_opens_its_standard_streams_before_anything_else(name):
    program = FOLDER / name
    if not program.exists():
        pytest.skip(f"{name} is not built")
    assert runs_first(program)


@pytest.mark.skipif(not HAS_VIDEO, reason="this build has no video")
@pytest.mark.parametrize("closed", [(0,), (1,), (2,), (0, 1, 2)], ids=str)
@pytest.mark.parametrize("name", ["tactus-video", "tactus-cameras", "tactus-detect"])
def test_a_childs_program_alone(tmp_path, name, closed):
    """Nothing that it opens gets the number of a stream: what each is, as the program sees it from a library that is loaded into it."""
    if not (FOLDER / name).exists():
        pytest.skip(f"{name} is not built")
    seen = tmp_path / "seen"
    source = tmp_path / "seen.c"
    # When the program ends: what its streams are.
    source.write_text(
        '#include <stdio.h>\n#include <unistd.h>\n#include <fcntl.h>\n#include <string.h>\n'
        'static int out = -1;\n'
        '__attribute__((constructor)) static void begin(void) {\n'
        '  for (int n = 0; n < 3; n++) { char path[32], text[256]; snprintf(path, sizeof path, "/proc/self/fd/%d", n);\n'
        '    ssize_t length = readlink(path, text, sizeof text - 1);\n'
        '    if (out < 0) out = open("' + str(seen) + '", O_WRONLY | O_CREAT | O_APPEND, 0666);\n'
        '    dprintf(out, "%d %.*s\\n", n, (int)(length < 0 ? 0 : length), text); } }\n')
    library = tmp_path / "seen.so"
    compiler = next((one for one in ("cc", "clang", "gcc") if subprocess.run(["which", one], capture_output=True).returncode == 0), None)
    if compiler is None:
        pytest.skip("no C compiler")
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, source], check=True)
    subprocess.run(
        [FOLDER / name, "none"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env={**os.environ, "LD_PRELOAD": str(library)}, preexec_fn=as_user(None, closed), timeout=LIMIT_SECONDS)
    # A library's initialiser came after ours.
    assert seen.read_text().splitlines()[:3] == [f"{number} /dev/null" for number in range(3)], seen.read_text()


# ---- confinement

DETECTOR = """
import json, os, socket, struct, sys
frames, answers = sys.stdin.buffer, sys.stdout.buffer

def tried(what):
    try:
        what()
        return "done"
    except BaseException as error:
        return type(error).__name__

def unshare():
    import ctypes
    if ctypes.CDLL(None).unshare(0x10000000) != 0: raise PermissionError

found = {
    "network": tried(lambda: socket.socket(socket.AF_INET)),
    "packets": tried(lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW)),
    "secret": tried(lambda: open(SECRET).read()),
    "daemon": tried(lambda: open(f"/proc/{DAEMON}/environ").read()),
    "shadow": tried(lambda: open("/etc/shadow").read()),
    "file": tried(lambda: open("/tmp/detector-was-here", "w")),
    "signal": tried(lambda: os.kill(DAEMON, 0)),
    "namespace": tried(unshare),
    "own": tried(lambda: open(__file__).read()),
    "environment": sorted(os.environ),
}
while line := frames.readline():
    side = int(line.split()[1])
    frames.read(side * side * 3)
    answers.write(("failed " + json.dumps(found) + "\\n").encode())
    answers.flush()
"""


@pytest.mark.skipif(not HAS_VIDEO or not HAS_BROKER, reason="needs video and mosquitto")
@pytest.mark.parametrize("user", USERS)
def test_children_have_no_secret_no_privilege_and_only_what_they_need(tmp_path, user):
    port = free_port()
    # Somewhere that another user may read, too.
    let_others_in(tmp_path)
    scripts = tmp_path / "detector"
    scripts.mkdir()
    secret = tmp_path / "secret"
    secret.write_text("secret")
    daemon = Daemon(tmp_path, more=(
        "camera: {source: test, resolution: [320, 240]}\n"
        f"video: {{detector: {{command: [python3, {scripts}/look.py], input_px: 64, rate_hz: 10, always: true}}}}\n"
        f"mqtt: {{broker: spawn, port: {port}}}\n"))
    if user is not None:
        for path in [tmp_path, daemon.config, secret]:
            os.chown(path, user, user)
    secret.chmod(0o644)

    def prepare():
        # In the daemon's process, before it is one: a detector that is started finds its file.
        (scripts / "look.py").write_text(f"SECRET = {str(secret)!r}\nDAEMON = {os.getpid()}\n" + DETECTOR)
        as_user(user)()
    with open(daemon.log_path, "ab") as log:
        daemon.log_start = 0
        daemon.process = subprocess.Popen(
            [PROGRAM, "run", "--config", daemon.config, "--simulate"], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            preexec_fn=prepare,
            env=own_environment(
                tmp_path, owner=user, HOME=tmp_path, XDG_CACHE_HOME=tmp_path, TACTUS_TOKEN=daemon.admin, A_SECRET="hidden"))
    try:
        video = child(daemon.process.pid, "tactus-video")
        until(lambda: is_confined(video), "video is not confined")
        # This detector fails with its first picture, and is started again: it is looked at while it is there.
        detector = until(lambda: seen(child(video, "look.py"), "python"), "no detector")
        broker = until(lambda: seen(child(daemon.process.pid, "mosquitto", "/proc/self/fd/4"), "mosquitto"), "no broker")
        own = os.geteuid() if user is None else user
        for now, line, known in (seen(video, ""), detector, broker):
            for name in ("CapInh", "CapPrm", "CapEff", "CapAmb"):
                assert int(now[name][0], 16) == 0, (line, name, now[name])
            assert now["NoNewPrivs"] == ["1"] and now["Seccomp"] == ["2"], (line, now)
            if own == 0:
                assert int(now["CapBnd"][0], 16) == 0 and "0" not in now["Uid"] + now["Gid"], (line, now)
                assert "0" not in now["Groups"], (line, now)
            else:
                assert now["Uid"] == [str(own)] * 4
            assert "A_SECRET" not in known and not any(daemon.admin in value for value in known.values()), known
            assert daemon.admin not in " ".join(line)
        assert broker[2].keys() <= {"PATH"}
        # The daemon's own is where others of its user look.
        assert daemon.admin not in environment(daemon.process.pid).values()

        def said():
            state = daemon.get("/api/video").json()["detection"]
            return state["state"] == "failed" and state["reason"].startswith("{") and json.loads(state["reason"])
        until(lambda: daemon.get("/api/health").status_code == 200, "no service")
        found = until(said, daemon.get("/api/video").text)
        assert "TACTUS_TOKEN" not in found["environment"] and "A_SECRET" not in found.pop("environment")
        assert found.pop("own") == "done", found
        # Each is refused, whoever refuses it: Landlock, seccomp or the account.
        if LANDLOCK < 1:
            found = {name: found[name] for name in ("network", "packets", "shadow", "namespace")}
        elif LANDLOCK < 6:
            del found["signal"]
        assert all(answer != "done" for answer in found.values()), found
        # What they are for works.
        assert daemon.get("/api/video/snapshot.jpg").status_code == 200
        until(lambda: daemon.get("/api/mqtt").json()["connected"], "no broker")
    finally:
        daemon.stop()


def test_the_guard_keeps_its_devices_and_nothing_else(tmp_path):
    master, slave = os.openpty()
    line = os.ttyname(slave)
    config = tmp_path / "tactus.yaml"
    config.write_text(
        f"network: {{motor_udp_port: 0, http_port: 0}}\nmotors: {{backend: xgo-rider, serial_device: {line}}}\n"
        f"runtime: {{lock_memory: false, robot: {{scheduling: normal}}}}\nstore: {{folder: {tmp_path}/state}}\n"
        f"service: {{token_file: {tmp_path}/tokens.json, bonjour: false}}\n")
    with open(tmp_path / "log", "ab") as log:
        daemon = subprocess.Popen(
            [PROGRAM, "run", "--config", config], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            env={**os.environ, "TACTUS_TOKEN": "0123456789abcdef0123456789abcdef"})
    try:
        guard = child(daemon.pid, "guard", line)
        until(lambda: is_confined(guard), "the guard is not confined")
        now = status(guard)
        for name in ("CapInh", "CapPrm", "CapEff", "CapAmb"):
            assert int(now[name][0], 16) == 0, (name, now)
        assert now["NoNewPrivs"] == ["1"]
        assert "TACTUS_TOKEN" not in environment(guard)
        targets = [os.readlink(f"/proc/{guard}/fd/{one}") for one in os.listdir(f"/proc/{guard}/fd")]
        # The page on which it counts its writes is the daemon's, too.
        kept = ("/dev/null", line, str(tmp_path / "log"), "/memfd:tactus-guard (deleted)")
        others = [t for t in targets if t not in kept and not t.startswith(("socket:", "anon_inode:"))]
        assert others == [] and line in targets, targets
    finally:
        daemon.kill()
        daemon.wait()
        os.close(slave)
        os.close(master)
