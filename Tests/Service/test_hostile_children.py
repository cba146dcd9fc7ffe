"""A child of the daemon's whose code is somebody else's, under the daemon's account: it can do nothing to daemon, guard and spawners."""
import ctypes
import os
import platform
import shutil
import signal
import socket
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from daemon import PROGRAM, free_port
from test_children import HAS_BROKER, HAS_VIDEO, LANDLOCK, NOBODY, as_user, child, children, is_confined, until, words
from test_privileges import OnALine
from test_video import HAS_OPENCV
from tiny_model import bright

COMPILER = next((one for one in ("cc", "gcc", "clang") if shutil.which(one)), None)
# A folder of every Debian's, with nothing in it, which confined programs may read. Only the test's processes see another in its place.
PLACE = "/usr/local/games"
NEW_MOUNTS, BIND, PRIVATE = 0x20000, 4096, 0x40000 | 0x4000
REFUSED = {"EPERM", "EACCES", "ENOSYS"}
# Nobody's but a child's own group can be changed; what this kernel does not have.
ALSO_REFUSED = {"setpgid": {"ESRCH"}, **{f"/proc/{name}": {"ENOENT"} for name in ("autogroup", "timerslack_ns", "sched")}}

pytestmark = [
    pytest.mark.skipif(os.geteuid() != 0, reason="only root can put a library into every program of a test's"),
    pytest.mark.skipif(COMPILER is None, reason="no C compiler"),
    pytest.mark.skipif(platform.machine() not in ("x86_64", "aarch64"), reason="no filter of system calls on this machine"),
    pytest.mark.skipif(not os.path.isdir(PLACE), reason=f"no {PLACE}"),
]


def among(folders, then):
    """What a child does before it starts its program: sees folders in the places of others, which nobody else does."""
    libc = ctypes.CDLL(None, use_errno=True)

    def checked(result):
        if result != 0:
            raise OSError(ctypes.get_errno(), "mount")

    def prepare():
        checked(libc.unshare(NEW_MOUNTS))
        checked(libc.mount(None, b"/", None, PRIVATE, None))
        for source, place in folders.items():
            checked(libc.mount(bytes(source), place.encode(), None, BIND, None))
        then()
    return prepare


class Infested(OnALine):
    """A daemon of an ordinary user, as under systemd, whose children have a library of the test's in them."""

    def __init__(self, folder, more):
        super().__init__(folder, more=more, user=NOBODY, XDG_CACHE_HOME=folder / "own")

    def start_process(self):
        self.log_start = 0
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(
                [PROGRAM, "run", "--config", self.config], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                preexec_fn=among({self.folder / "place": PLACE, self.folder / "etc": "/etc"}, as_user(self.user)),
                env=self.own_environment(TACTUS_TOKEN=self.admin))


def settled(processes):
    """Their state once they have come to rest: what one does at its start, on a machine that is busy, is nobody's attack."""
    found = [state(processes)]

    def is_same():
        time.sleep(1)
        found.append(state(processes))
        return found[-1] == found[-2]

    until(is_same, "the processes do not come to rest")
    return found[-1]


def has_looked(daemon):
    """Whether both threads that answer who only looks have done so: each lowers its own priority when it first does."""
    with ThreadPoolExecutor(8) as readers:
        list(readers.map(lambda _: daemon.get("/metrics"), range(16)))
    threads = Path(f"/proc/{daemon.process.pid}/task").iterdir()
    return sum(os.getpriority(os.PRIO_PROCESS, int(thread.name)) == 10 for thread in threads) >= 2


def compiled(folder, name, *definitions):
    library = folder / name
    source = Path(__file__).parent / "hostile_child.c"
    subprocess.run([COMPILER, "-shared", "-fPIC", "-w", f'-DFOLDER="{PLACE}"', *definitions, "-o", library, source, "-ldl"], check=True)
    library.chmod(0o755)
    return library


def state(processes):
    """What an attack would change, of each process and each of its threads."""
    found = {}
    for process in processes:
        found[process] = Path(f"/proc/{process}/limits").read_text(), Path(f"/proc/{process}/oom_score_adj").read_text()
        for thread in (int(task.name) for task in Path(f"/proc/{process}/task").iterdir()):
            found[process, thread] = (
                os.sched_getscheduler(thread), os.sched_getparam(thread), os.sched_getaffinity(thread), os.getpriority(os.PRIO_PROCESS, thread))
    return found


class Results:
    """What the library reports, by the child and what it was tried on."""

    def __init__(self, folder):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        # Its path may be longer than an address.
        place = os.open(folder, os.O_PATH)
        self.socket.bind(f"/proc/self/fd/{place}/results")
        os.close(place)
        (folder / "results").chmod(0o777)
        self.socket.setblocking(False)
        self.parts = {}
        self.ended = {}

    def of(self, kind):
        """Its report, once it has ended: the lines. Whoever has something to report waits for this to be asked: the socket holds few."""
        while True:
            try:
                who, _, text = self.socket.recv(1 << 16).decode().partition("\n")
            except BlockingIOError:
                break
            name = who.split(":")[0]
            if text == "end\n":
                self.ended.setdefault(name, self.parts[who])
            else:
                self.parts[who] = self.parts.get(who, "") + text
        return self.ended.get(kind)


def tried(report):
    """What was tried on which process, and what came of it."""
    target = None
    for line in report.splitlines()[1:]:
        name, result = line.rsplit(" ", 1)
        if name == "on":
            target = result
        else:
            yield target, name, result


def allowed(report, processes):
    """What of it was not refused."""
    found = list(tried(report))
    for process in map(str, processes):
        assert sum(target == process for target, _, _ in found) >= 50, (process, report)
    for _, name, result in found:
        assert result == "done" or not name.startswith("own:"), (name, result)
    return [
        (target, name, result) for target, name, result in found
        if not name.startswith("own:") and result not in REFUSED | ALSO_REFUSED.get(name, set())]


@pytest.mark.skipif(not HAS_VIDEO or not HAS_BROKER, reason="needs video and mosquitto")
@pytest.mark.parametrize("landlock", [True, False], ids=["with Landlock", "without Landlock"])
def test_hostile_code_in_any_child_can_do_nothing_to_daemon_guard_and_spawners(tmp_path, landlock):
    if landlock and LANDLOCK < 1:
        pytest.skip("this kernel has no Landlock")
    place, etc = tmp_path / "place", tmp_path / "etc"
    place.mkdir()
    place.chmod(0o755)
    library = compiled(place, "hostile.so", *([] if landlock else ["-DNO_LANDLOCK"]))
    control = compiled(place, "control.so", "-DCONTROL")
    subprocess.run(["cp", "-a", "/etc", etc], check=True)
    (etc / "ld.so.preload").write_text(f"{PLACE}/{library.name}\n")
    results = Results(place)
    model = tmp_path / "own/bright.onnx"
    detector = f"video: {{detector: {{model: {model}, labels_file: {tmp_path}/own/labels, input_px: 64, rate_hz: 10, always: true}}}}\n" if HAS_OPENCV else ""
    more = (
        f"camera: {{source: test, resolution: [320, 240]}}\n{detector}"
        f"mqtt: {{broker: spawn, port: {free_port()}}}\n")
    daemon = Infested(tmp_path, more)
    model.write_bytes(bright(64, 8))
    (tmp_path / "own/labels").write_text("ball\n")
    with daemon:
        until(lambda: is_confined(daemon.guard), "the guard is not confined")
        until(lambda: daemon.get("/api/mqtt").json()["connected"], "no broker")
        processes = [daemon.process.pid, daemon.guard, *daemon.spawners]
        until(lambda: has_looked(daemon), "a thread for looks has never had anything to do")
        before = settled(processes)
        lines = [f"{one} {max(int(task.name) for task in Path(f'/proc/{one}/task').iterdir())}\n" for one in processes]
        (place / "new").write_text("".join(lines))
        os.replace(place / "new", place / "processes")
        # A launcher that was there before the list has become the detector, and its library's thread has ended with that: another is started.
        for one in children(child(daemon.process.pid, "tactus-video")):
            if str(model) in words(one):
                os.kill(one, signal.SIGKILL)
        # That one is there only while something is wanted of it.
        until(lambda: (daemon.get("/api/video/cameras"), results.of("cameras"))[1], "nothing from cameras")
        kinds = ["guard", "video", "cameras", "broker"] + (["detector", "detect"] if HAS_OPENCV else [])
        done = {}
        for kind in kinds:
            report = until(lambda: results.of(kind), f"nothing from {kind}, but from {list(results.ended)}")
            process, user = report.split("\n")[0].split()[1:]
            assert user == str(NOBODY), report
            done[kind] = allowed(report, [one for one in processes if one != int(process)])
        assert not any(done.values()), done
        after = state(processes)
        # The guard's library had a thread there.
        assert {one: after[one] for one in after if one in before} == {one: before[one] for one in before if one in after}
        assert daemon.get("/api/health").json()["guard"]["state"] == "watching"
        assert daemon.get("/api/health").json()["guard"]["replacements"] == 0
        # It is no kernel that refuses all of this by itself: a program of the same account that nobody has confined may do it.
        control_process = subprocess.Popen(
            ["/bin/true"], env={"LD_PRELOAD": f"{PLACE}/{control.name}"}, preexec_fn=among({place: PLACE}, as_user(NOBODY)))
        # Read while it goes on: it waits for room in the socket.
        report = until(lambda: results.of("control"), "no control")
        assert control_process.wait(60) == 0
        free = {name for _, name, result in tried(report) if result == "done"}
        wanted = {
            "prlimit64", "sched_setscheduler", "sched_setparam", "sched_setattr", "sched_setaffinity", "setpriority", "ioprio_set", "kill",
            "tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "pidfd_open", "pidfd_send_signal", "fcntl", "ioctl", "timer_create"}
        assert wanted <= free, wanted - free
