"""What the daemon itself gives up at its start, what it can still have done by its spawner, and what is refused."""
import ctypes
import json
import os
import pwd
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

import pytest

from daemon import PROBES, PROGRAM, Daemon, free_port, let_others_in, own_environment
from test_children import HAS_BROKER, HAS_VIDEO, LANDLOCK, NOBODY, USERS, as_user, child, children, is_confined, status, until, words

# What a daemon tries when it begins to listen, which is after it was confined: from a library that is loaded into it. The path of a file for the
# results, of a secret beside the daemon's own folders, and a process of somebody else come by its environment.
TRIES = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static void tell(FILE *file, const char *what, long result) {
  fprintf(file, "%s %s\n", what, result < 0 ? strerrorname_np(errno) : "done");
}

static void attempt(FILE *file) {
  char *words[] = {"true", NULL};
  pid_t other = atoi(getenv("TRIES_PROCESS"));
  tell(file, "program", execve("/bin/true", words, words));
  pid_t forked = fork();
  if (forked == 0) _exit(0);
  tell(file, "process", forked);
  tell(file, "packets", socket(AF_PACKET, SOCK_RAW, 0));
  tell(file, "raw", socket(AF_INET, SOCK_RAW, 1));
  tell(file, "trace", ptrace(PTRACE_SEIZE, other, 0, 0));
  tell(file, "signal", kill(other, SIGTERM));
  tell(file, "mount", mount("none", "/mnt", "tmpfs", 0, NULL));
  tell(file, "namespace", syscall(SYS_unshare, 0x10000000));
  tell(file, "module", syscall(SYS_init_module, "", 0, ""));
  tell(file, "bpf", syscall(SYS_bpf, 0, NULL, 0));
  tell(file, "keys", syscall(SYS_keyctl, 0, 0, 0, 0, 0));
  tell(file, "account", syscall(SYS_setresuid, 65534, 65534, 65534));
  tell(file, "shadow", open("/etc/shadow", O_RDONLY));
  tell(file, "secret", open(getenv("TRIES_SECRET"), O_RDONLY));
  tell(file, "file", open("/etc/tactus-was-here", O_WRONLY | O_CREAT, 0600));
  tell(file, "memory", open("/dev/mem", O_RDWR));
  tell(file, "disk", open("/dev/vda", O_RDONLY));
  tell(file, "own", open(getenv("TRIES_FILE"), O_RDONLY));
}

int listen(int socket, int backlog) {
  static int is_tried;
  int (*real)(int, int) = (int (*)(int, int))dlsym(RTLD_NEXT, "listen");
  if (getenv("TRIES_FILE") && !is_tried++) {
    FILE *file = fopen(getenv("TRIES_FILE"), "w");
    if (file) { attempt(file); fclose(file); }
  }
  return real(socket, backlog);
}
"""
NO_FILES = {"shadow", "secret", "file", "memory", "disk"}


class OnALine(Daemon):
    """A daemon whose robot is on a pseudo-terminal: its guard is a real one with a real output."""

    def __init__(self, folder, more="", user=None, account=None, runtime="", **environment):
        """`user`: who starts it. `account`: whom root's program becomes."""
        Path(folder).mkdir(exist_ok=True)
        super().__init__(folder)
        let_others_in(self.folder)
        self.own = self.folder / "own"
        self.own.mkdir()
        self.terminal = os.openpty()
        self.line = os.ttyname(self.terminal[1])
        self.user = user
        self.account = account
        if account is not None:
            runtime += f", user: {account}"
            user = pwd.getpwnam(account).pw_uid
        self.tokens = self.own / "tokens.json"
        self.config = self.own / "tactus.yaml"
        self.config.write_text(f"""\
network: {{ bind_address: 127.0.0.1, motor_udp_port: 0, rtsp_port: 0, http_port: {self.port} }}
motors: {{ backend: xgo-rider, serial_device: {self.line}, acceleration: 0 }}
store: {{ folder: {self.own}/state }}
sprinkler: {{ backend: sim, time_zone: Asia/Tokyo, zones: [{{pin: 12}}] }}
runtime: {{ lock_memory: false, robot: {{ scheduling: normal, safe_state_after: 1000 }}, sprinkler: {{ scheduling: normal }}{runtime} }}
logging: {{ file: {self.own}/log }}
service: {{ token_file: {self.tokens}, bonjour: false }}
{more}""")
        self.environment = {key: str(value) for key, value in environment.items()}
        self.plan = None
        self.owner = user
        if user is not None:
            for path in (self.own, self.config, self.line):
                os.chown(path, user, user)

    def start_process(self):
        self.log_start = 0
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(
                [PROGRAM, "run", "--config", self.config, *(["--plan", self.plan] if self.plan else [])], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                preexec_fn=as_user(self.user),
                env=self.own_environment(TACTUS_TOKEN=self.admin))

    def own_environment(self, **more):
        """The home of whoever the daemon is is the folder that belongs to that account."""
        return own_environment(self.own, owner=self.owner, **{
            "HOME": self.own, "XDG_STATE_HOME": self.own / ".local/state", "XDG_CACHE_HOME": self.own / ".cache", **self.environment, **more})

    def stop(self):
        try:
            super().stop()
        finally:
            for end in self.terminal:
                os.close(end)

    @property
    def spawner(self):
        """The one that serves; not the one that stands by for it."""
        return next(one for one in self.spawners if status(one)["Name"] != ["tactus-standby"])

    @property
    def spawners(self):
        return [one for one in children(self.process.pid) if "spawner" in words(one)]

    @property
    def guard(self):
        return child(self.process.pid, "guard", self.line)

    def refuses_to_start(self):
        """Its exit status."""
        try:
            self.start_process()
            return self.process.wait(60)
        finally:
            self.process.kill()
            self.process.wait()
            for end in self.terminal:
                os.close(end)


def threads(process):
    return [status(f"{process}/task/{task.name}") for task in Path(f"/proc/{process}/task").iterdir()]


def has(now, **expected):
    return {name: now[name] for name in expected} == expected


# Whom root's program becomes, in a test of what both have to be able to do.
def started(who):
    return {"account": who} if isinstance(who, str) else {"user": who}


needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another account")
ACCOUNTS = USERS + [pytest.param("nobody", marks=needs_root)]


@pytest.mark.parametrize("user", ACCOUNTS)
def test_every_thread_of_the_daemon_has_given_up_what_it_does_not_need(tmp_path, user):
    with OnALine(tmp_path, **started(user)) as daemon:
        until(lambda: is_confined(daemon.guard), "the guard is not confined")
        own = str(os.geteuid() if user is None else NOBODY)
        for now in threads(daemon.process.pid) + threads(daemon.guard) + threads(daemon.spawner):
            assert has(now, NoNewPrivs=["1"], Seccomp=["2"], Uid=[own] * 4), now
            if user == "nobody":
                assert has(now, Gid=[str(pwd.getpwnam(user).pw_gid)] * 4), now
                assert [int(group) for group in now["Groups"]] == os.getgrouplist(user, pwd.getpwnam(user).pw_gid), now
        if user == "nobody":
            # No process of it is left that could become root again.
            for now in threads(daemon.spawner):
                assert has(now, CapPrm=["0" * 16], CapEff=["0" * 16]), now
        for process in (daemon.process.pid, daemon.guard):
            for now in threads(process):
                for name in ("CapInh", "CapPrm", "CapEff", "CapAmb"):
                    # Where root may not lift its limits, it keeps what stands for them: real-time priorities, locked memory.
                    assert int(now[name][0], 16) & ~(1 << 23 | 1 << 14) == 0, (words(process), name, now)
        daemon.wait_for_line('"msg":"confined"')
        # The guard, and two spawners.
        assert len(children(daemon.process.pid)) == 3


def tries(tmp_path):
    """The library that tries what is given up, and a secret that everybody may read."""
    compiler = next((one for one in ("cc", "clang", "gcc") if shutil.which(one)), None)
    if compiler is None:
        pytest.skip("no C compiler")
    let_others_in(tmp_path)
    # A folder of its own: what lies beside a library that is loaded may be read.
    folder = tmp_path / "library"
    folder.mkdir()
    source, library, secret = folder / "tries.c", folder / "tries.so", tmp_path / "secret"
    source.write_text(TRIES)
    subprocess.run([compiler, "-shared", "-fPIC", "-w", "-o", library, source], check=True)
    secret.write_text("secret")
    for path in (library, secret):
        path.chmod(0o755)
    return library, secret


@pytest.mark.parametrize("user", ACCOUNTS)
def test_what_the_daemon_has_given_up_is_refused(tmp_path, user):
    library, secret = tries(tmp_path)
    other = subprocess.Popen(["sleep", "600"], preexec_fn=as_user(NOBODY if user == "nobody" else user))
    try:
        result = tmp_path / "own/tried"
        with OnALine(
                tmp_path, **started(user), LD_PRELOAD=library, TRIES_FILE=result, TRIES_SECRET=secret, TRIES_PROCESS=other.pid):
            tried = dict(line.split() for line in until(lambda: result.exists() and result.read_text(), "nothing was tried").splitlines())
        print(tried)
        assert tried.pop("own") == "done"
        if LANDLOCK < 1:
            tried = {name: answer for name, answer in tried.items() if name not in NO_FILES}
        if LANDLOCK < 6:
            tried.pop("signal")
        assert len(tried) >= 11 and "done" not in tried.values(), tried
        # By Landlock, not since it is not there, or is somebody else's.
        if LANDLOCK >= 1:
            assert tried["secret"] == "EACCES", tried
        assert other.poll() is None
    finally:
        other.kill()
        other.wait()


class Chime(Daemon):
    """`declared-probe run --simulate`: a package's own program, whose system says of no file that it reads it."""

    def __init__(self, folder, **environment):
        super().__init__(folder)
        self.program = PROBES / "declared-probe"
        self.environment = {**self.environment, **{key: str(value) for key, value in environment.items()}}
        self.config.write_text(f"""\
network: {{http_port: {self.port}}}
chime: {{}}
runtime: {{lock_memory: false, chime: {{scheduling: normal}}}}
service: {{token_file: {folder}/tokens.json, bonjour: false}}
""")


def test_a_declared_system_reads_no_file_that_it_has_not_named(tmp_path):
    if LANDLOCK < 1:
        pytest.skip("this kernel has no Landlock")
    library, secret = tries(tmp_path)
    folder = tmp_path / "daemon"
    folder.mkdir()
    result = folder / "tried"
    other = subprocess.Popen(["sleep", "600"])
    try:
        with Chime(folder, LD_PRELOAD=library, TRIES_FILE=result, TRIES_SECRET=secret, TRIES_PROCESS=other.pid):
            tried = dict(line.split() for line in until(lambda: result.exists() and result.read_text(), "nothing was tried").splitlines())
    finally:
        other.kill()
        other.wait()
    print(tried)
    assert tried["own"] == "done" and tried["secret"] == "EACCES" and tried["file"] == "EACCES", tried


@pytest.mark.parametrize("user", ACCOUNTS)
def test_what_a_confined_daemon_is_there_for_works(tmp_path, user):
    with OnALine(tmp_path, **started(user)) as daemon:
        # Who starts it makes tokens, too: root, even if the program is somebody else by then.
        user = None if user == "nobody" else user
        # A guard that dies, and one that hangs, is replaced by one that is confined, too.
        for signal_number in (signal.SIGKILL, signal.SIGSTOP):
            first = daemon.guard
            os.kill(first, signal_number)
            until(lambda: not Path(f"/proc/{first}").exists(), "the guard is not reaped")
            until(lambda: daemon.get("/api/health").json()["guard"]["state"] == "watching", "no other guard")
            assert daemon.guard != first
            until(lambda: is_confined(daemon.guard), "the other guard is not confined")
        assert daemon.get("/api/health").json()["guard"]["replacements"] == 2
        # The configuration in its place by another file, as editors do it.
        text = daemon.config.read_text().replace("acceleration: 0", "acceleration: 50") + "\n"
        beside = daemon.own / "tactus.yaml.new"
        beside.write_text(text)
        if user is not None:
            os.chown(beside, user, user)
        os.replace(beside, daemon.config)
        reloaded = daemon.request("POST", "/api/reload")
        assert reloaded.status_code == 200, reloaded.text
        # A token that somebody else makes.
        made = subprocess.run(
            [PROGRAM, "token", "create", "--config", daemon.config, "--scope", "read", "--name", "phone"], capture_output=True, text=True,
            preexec_fn=as_user(user), env=daemon.own_environment())
        assert made.returncode == 0, made.stderr
        until(lambda: daemon.get("/api/status", token=made.stdout.strip()).status_code == 200, "the token is not seen")
        # The log moved away, as logrotate does it.
        log = daemon.own / "log"
        os.replace(log, daemon.own / "log.1")
        daemon.process.send_signal(signal.SIGHUP)
        until(log.exists, "no log file again")
        assert log.stat().st_uid == (daemon.own.stat().st_uid)
        # The store, and time zones.
        added = daemon.post("/api/schedules", json={"name": "night", "days": [0], "start": "04:30", "zones": [{"zone": 1, "minutes": 1}]})
        assert added.status_code in (200, 201, 400, 404, 422), added.text
        assert (daemon.own / "state/store.sqlite").exists()
        assert "STORE_FAILED" not in daemon.get("/api/health").text


def replace_guard(daemon, how):
    first = daemon.guard
    os.kill(first, how)
    until(lambda: not Path(f"/proc/{first}").exists(), "the guard is not reaped")
    until(lambda: daemon.get("/api/health").json()["guard"]["state"] == "watching", "no other guard")
    assert daemon.guard != first
    until(lambda: is_confined(daemon.guard), "the other guard is not confined")


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP], ids=["killed", "hanging"])
def test_without_its_spawner_the_one_that_stands_by_starts_another_guard(tmp_path, how):
    with OnALine(tmp_path) as daemon:
        until(lambda: is_confined(daemon.guard), "the guard is not confined")
        spawner = daemon.spawner
        if how == signal.SIGKILL:
            os.kill(spawner, signal.SIGKILL)
            until(lambda: "a spawner is gone" in daemon.log, "not told")
        else:
            os.kill(spawner, signal.SIGSTOP)
        # The first of them was started by the other spawner, and is its to end; the second by itself.
        replace_guard(daemon, signal.SIGSTOP)
        replace_guard(daemon, signal.SIGKILL)
        # One that only hung does nothing any more.
        until(lambda: len(daemon.spawners) == 1 and spawner not in daemon.spawners, "the first is still there")
        health = daemon.get("/api/health").json()
        assert health["guard"]["replacements"] == 2 and health.get("code") != "SPAWNER_LOST", health
        # One that hangs is waited for longer than outputs may be without a guard: they are stopped meanwhile.
        assert how == signal.SIGSTOP or daemon.get("/api/robot").json()["emergencyStopped"] is False


def test_a_lost_second_is_told_of_and_changes_nothing(tmp_path):
    with OnALine(tmp_path) as daemon:
        os.kill(next(one for one in daemon.spawners if one != daemon.spawner), signal.SIGKILL)
        until(lambda: "a spawner is gone" in daemon.log, "not told")
        replace_guard(daemon, signal.SIGKILL)
        assert daemon.get("/api/health").json().get("code") != "SPAWNER_LOST"


def test_both_spawners_gone_is_told_of_and_a_guard_that_dies_then_stops_every_output(tmp_path):
    with OnALine(tmp_path) as daemon:
        for spawner in daemon.spawners:
            os.kill(spawner, signal.SIGKILL)
        until(lambda: daemon.get("/api/health").json().get("code") == "SPAWNER_LOST", "not told")
        assert "the spawners are gone" in daemon.log
        # All else goes on.
        assert daemon.get("/api/health").json()["guard"]["state"] == "watching"
        os.kill(daemon.guard, signal.SIGKILL)
        until(lambda: daemon.get("/api/health").json()["guard"]["state"] == "lost", "not told of the guard")
        until(lambda: daemon.get("/api/robot").json()["emergencyStopped"], "not stopped")


@pytest.mark.skipif(not HAS_VIDEO or not HAS_BROKER, reason="needs video and mosquitto")
@pytest.mark.parametrize("gone", ["neither", "the first", "the second", "both"])
def test_whichever_spawner_goes_first_children_end_with_the_daemon(tmp_path, gone):
    let_others_in(tmp_path)
    daemon = Daemon(tmp_path, more=f"camera: {{source: test, resolution: [320, 240]}}\nmqtt: {{broker: spawn, port: {free_port()}}}\n",
                    environment={"HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path)})
    started = []
    try:
        daemon.start()
        video = child(daemon.process.pid, "tactus-video")
        broker = child(daemon.process.pid, "mosquitto", "/proc/self/fd/4")
        until(lambda: daemon.get("/api/mqtt").json()["connected"], "no broker")
        started = [video, broker]
        pair = [one for one in children(daemon.process.pid) if "spawner" in words(one)]
        second = next(one for one in pair if status(one)["Name"] == ["tactus-standby"])
        first = next(one for one in pair if one != second)
        for one in {"neither": [], "the first": [first], "the second": [second], "both": [first, second]}[gone]:
            os.kill(one, signal.SIGKILL)
        if gone == "both":
            # With nobody to end it, the broker is left.
            started = [video]
        daemon.process.kill()
        daemon.process.wait()
        for one in started:
            until(lambda: not Path(f"/proc/{one}/exe").exists(), f"{words(one)} is still there")
    finally:
        if daemon.process.poll() is None:
            daemon.process.kill()
            daemon.process.wait()
        if gone == "both" and started:
            os.kill(broker, signal.SIGKILL)


def test_switched_off_it_says_so(tmp_path):
    with OnALine(tmp_path, runtime=", confine: false") as daemon:
        assert status(daemon.process.pid)["Seccomp"] == ["0"]
        assert "the program keeps every privilege" in daemon.log
        assert len(children(daemon.process.pid)) == 1


# ---- the change of the account

@needs_root
def test_a_program_that_root_has_started_stops_and_starts_as_its_account_and_its_files_are_the_accounts(tmp_path):
    daemon = OnALine(tmp_path, account="nobody")
    plan = daemon.own / "run/safe-state"
    plan.parent.mkdir()
    os.chown(plan.parent, NOBODY, NOBODY)
    daemon.plan = plan
    with daemon:
        assert daemon.post("/api/e-stop").status_code == 200
        until(lambda: (plan.parent / "safe-state-stops").read_text().count("robot"), "the stop is not noted")
        # What kills both leaves the note of what the guard did, and nothing that the next start cannot read.
        daemon.process.kill()
        daemon.process.wait()
        until(lambda: "actuator" in (plan.parent / "safe-state-written").read_text(), "the guard has noted nothing")
        daemon.start()
        assert daemon.get("/api/robot").json()["emergencyStopped"]
        assert daemon.post("/api/reset").status_code == 200
        assert '"account":"nobody"' in daemon.log
    assert daemon.process.returncode == 0
    found = [path for path in daemon.own.rglob("*")]
    assert (daemon.own / "state/store.sqlite") in found and plan in found
    assert [path for path in found if path.stat().st_uid != NOBODY] == []


@needs_root
@pytest.mark.parametrize("closed, says", [
    ("state", "belongs to root and cannot be written to by nobody: chown nobody: "),
    ("state/store.sqlite", "belongs to root and cannot be read and written by nobody: chown -R nobody: "),
    ("log", "belongs to root and cannot be written by nobody: chown nobody: "),
    ("tokens.json", "belongs to root and cannot be read and written by nobody: chown -R nobody: "),
    ("tactus.yaml", "belongs to root and cannot be read by nobody: chgrp nogroup "),
    ("run/safe-state-stops", "belongs to root and cannot be read and written by nobody: chown -R nobody: "),
], ids=str)
def test_a_path_that_is_closed_to_the_account_is_told_of_before_anything_starts_and_stays_as_it_is(tmp_path, closed, says):
    daemon = OnALine(tmp_path, account="nobody")
    daemon.plan = daemon.own / "run/safe-state"
    for folder in ("state", "run"):
        (daemon.own / folder).mkdir()
        os.chown(daemon.own / folder, NOBODY, NOBODY)
    path = daemon.own / closed
    if not path.exists():
        path.touch()
    os.chown(path, 0, 0)
    path.chmod(0o755 if path.is_dir() else 0o600)
    assert daemon.refuses_to_start() == 1
    assert f"{path} {says}" in daemon.log, daemon.log
    assert "nothing was started, and nothing was changed" in daemon.log
    assert "confined" not in daemon.log and path.stat().st_uid == 0


@needs_root
def test_where_files_are_that_the_file_does_not_name_follows_the_account(tmp_path):
    home = pwd.getpwnam("nobody").pw_dir
    if os.path.exists("/var/lib/tactus") or os.path.exists(home):
        pytest.skip(f"there is a folder for nobody's files: /var/lib/tactus or {home}")
    daemon = OnALine(tmp_path, account="nobody", XDG_STATE_HOME=tmp_path / "own")
    daemon.config.write_text(daemon.config.read_text().replace(f"token_file: {daemon.tokens},", ""))
    assert daemon.refuses_to_start() == 1
    assert f"{home}/.local/state/tactus belongs to root and cannot be written to by nobody: install -d -o nobody {home}" in daemon.log, daemon.log
    # Nothing is made: it says where it looks.
    told = subprocess.run([PROGRAM, "token", "list", "--config", daemon.config], capture_output=True, text=True)
    assert f"{home}/.local/state/tactus/tokens.json" in told.stdout, (told.stdout, told.stderr)


@needs_root
def test_a_device_that_is_closed_to_the_account_is_told_of(tmp_path):
    daemon = OnALine(tmp_path, account="nobody")
    os.chown(daemon.line, 0, 0)
    os.chmod(daemon.line, 0o600)
    assert daemon.refuses_to_start() == 1
    assert f"{daemon.line} belongs to root and cannot be opened by nobody: " in daemon.log, daemon.log


@pytest.mark.parametrize("user, account, says", [
    pytest.param(None, "no-such-account", "expected an account of this machine, got no-such-account", marks=needs_root),
    pytest.param(NOBODY, "daemon", "expected nobody, who has started this program: only root can become daemon", marks=needs_root),
], ids=["unknown", "not root"])
def test_an_account_that_cannot_be_had_is_an_error_of_the_file(tmp_path, user, account, says):
    daemon = OnALine(tmp_path, user=user)
    text = daemon.config.read_text().replace("runtime: {", f"runtime: {{ user: {account},")
    daemon.config.write_text(text)
    line = next(number for number, one in enumerate(text.splitlines(), 1) if one.startswith("runtime:"))
    column = text.splitlines()[line - 1].index("user:") + 1
    assert daemon.refuses_to_start() == 78
    print(daemon.log)
    assert f"{daemon.config}:{line}:" in daemon.log and f"runtime.user: {says}" in daemon.log, (column, daemon.log)


@needs_root
def test_root_without_an_account_in_the_file_stays_root_and_says_that_it_need_not(tmp_path):
    with OnALine(tmp_path) as daemon:
        daemon.wait_for_line('"msg":"started"')
        assert daemon.log.count('"way_out":"set runtime.user to ') == 1, daemon.log
    with OnALine(tmp_path / "other", runtime=", user: root") as daemon:
        daemon.wait_for_line('"msg":"started"')
        assert '"account":"root"' in daemon.log and "runtime.user" not in daemon.log
        assert status(daemon.process.pid)["Uid"] == ["0"] * 4


@needs_root
def test_a_port_below_1024_is_the_accounts_too(tmp_path):
    with OnALine(tmp_path, account="nobody") as daemon:
        pass
    daemon = OnALine(tmp_path / "low", account="nobody")
    with socket.socket() as probe:
        low = next(port for port in range(1023, 600, -1) if probe.connect_ex(("127.0.0.1", port)) != 0)
    daemon.config.write_text(daemon.config.read_text().replace(f"http_port: {daemon.port}", f"http_port: {low}"))
    daemon.port = low
    with daemon:
        assert daemon.get("/api/health").status_code == 200
        for now in threads(daemon.process.pid):
            assert int(now["CapEff"][0], 16) & ~(1 << 23 | 1 << 14) == 1 << 10, now


@needs_root
def test_doctor_looks_at_the_files_as_the_account(tmp_path):
    daemon = OnALine(tmp_path, account="nobody")
    for end in daemon.terminal:
        os.close(end)
    (daemon.own / "log").touch()
    (daemon.own / "log").chmod(0o600)

    def account():
        told = subprocess.run([PROGRAM, "doctor", "--config", daemon.config, "--json"], capture_output=True, text=True)
        return [check for check in json.loads(told.stdout)["checks"] if check["name"] == "account"]
    closed = [check for check in account() if "/log " in check["found"]]
    assert closed[0]["status"] == "fail" and closed[0]["fix"] == f"chown nobody: {daemon.own}/log", closed
    daemon.config.write_text(daemon.config.read_text().replace("user: nobody", "user: no-such-account"))
    assert [check["found"] for check in account()] == ["no account no-such-account"]
