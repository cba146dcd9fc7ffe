"""What the daemon itself gives up at its start, what it can still have done by its spawner, and what is refused."""
import ctypes
import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from daemon import PROGRAM, Daemon, let_others_in
from test_children import LANDLOCK, NOBODY, USERS, as_user, child, children, is_confined, status, until, words

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

    def __init__(self, folder, more="", user=None, runtime="", **environment):
        super().__init__(folder)
        let_others_in(self.folder)
        self.own = self.folder / "own"
        self.own.mkdir()
        self.terminal = os.openpty()
        self.line = os.ttyname(self.terminal[1])
        self.user = user
        self.tokens = self.own / "tokens.json"
        self.config = self.own / "tactus.yaml"
        self.config.write_text(f"""\
network: {{ bind_address: 127.0.0.1, motor_udp_port: 0, http_port: {self.port} }}
motors: {{ backend: xgo-rider, serial_device: {self.line}, acceleration: 0 }}
store: {{ folder: {self.own}/state }}
sprinkler: {{ backend: sim, time_zone: Asia/Tokyo, zones: [{{pin: 12}}] }}
runtime: {{ lock_memory: false, robot: {{ scheduling: normal, safe_state_after: 1000 }}, sprinkler: {{ scheduling: normal }}{runtime} }}
logging: {{ file: {self.own}/log }}
service: {{ token_file: {self.tokens}, bonjour: false }}
{more}""")
        self.environment = {key: str(value) for key, value in environment.items()}
        if user is not None:
            for path in (self.own, self.config, self.line):
                os.chown(path, user, user)

    def start_process(self):
        self.log_start = 0
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(
                [PROGRAM, "run", "--config", self.config], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                preexec_fn=as_user(self.user),
                env={**os.environ, "HOME": str(self.own), **self.environment, "TACTUS_TOKEN": self.admin})

    def stop(self):
        try:
            super().stop()
        finally:
            for end in self.terminal:
                os.close(end)

    @property
    def spawner(self):
        return child(self.process.pid, "spawner")

    @property
    def guard(self):
        return child(self.process.pid, "guard", self.line)


def threads(process):
    return [status(f"{process}/task/{task.name}") for task in Path(f"/proc/{process}/task").iterdir()]


def has(now, **expected):
    return {name: now[name] for name in expected} == expected


@pytest.mark.parametrize("user", USERS)
def test_every_thread_of_the_daemon_has_given_up_what_it_does_not_need(tmp_path, user):
    with OnALine(tmp_path, user=user) as daemon:
        until(lambda: is_confined(daemon.guard), "the guard is not confined")
        own = str(os.geteuid() if user is None else user)
        for now in threads(daemon.process.pid) + threads(daemon.guard) + threads(daemon.spawner):
            assert has(now, NoNewPrivs=["1"], Seccomp=["2"], Uid=[own] * 4), now
        for process in (daemon.process.pid, daemon.guard):
            for now in threads(process):
                for name in ("CapInh", "CapPrm", "CapEff", "CapAmb"):
                    # Where root may not lift its limits, it keeps what stands for them: real-time priorities, locked memory.
                    assert int(now[name][0], 16) & ~(1 << 23 | 1 << 14) == 0, (words(process), name, now)
        assert '"msg":"confined: what is not needed was given up"' in daemon.log
        assert len(children(daemon.process.pid)) == 2


@pytest.mark.parametrize("user", USERS)
def test_what_the_daemon_has_given_up_is_refused(tmp_path, user):
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
    other = subprocess.Popen(["sleep", "600"], preexec_fn=as_user(user))
    try:
        result = tmp_path / "own/tried"
        with OnALine(
                tmp_path, user=user, LD_PRELOAD=library, TRIES_FILE=result, TRIES_SECRET=secret, TRIES_PROCESS=other.pid):
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


@pytest.mark.parametrize("user", USERS)
def test_what_a_confined_daemon_is_there_for_works(tmp_path, user):
    with OnALine(tmp_path, user=user) as daemon:
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
            preexec_fn=as_user(user), env={**os.environ, "HOME": str(daemon.own)})
        assert made.returncode == 0, made.stderr
        until(lambda: daemon.get("/api/status", token=made.stdout.strip()).status_code == 200, "the token is not seen")
        # The log moved away, as logrotate does it.
        log = daemon.own / "log"
        os.replace(log, daemon.own / "log.1")
        daemon.process.send_signal(signal.SIGHUP)
        until(log.exists, "no log file again")
        # The store, and time zones.
        added = daemon.post("/api/schedules", json={"name": "night", "days": [0], "start": "04:30", "zones": [{"zone": 1, "minutes": 1}]})
        assert added.status_code in (200, 201, 400, 404, 422), added.text
        assert (daemon.own / "state/store.sqlite").exists()
        assert "STORE_FAILED" not in daemon.get("/api/health").text


def test_a_spawner_that_is_gone_is_told_of_and_a_guard_that_dies_then_stops_every_output(tmp_path):
    with OnALine(tmp_path) as daemon:
        os.kill(daemon.spawner, signal.SIGKILL)
        until(lambda: daemon.get("/api/health").json().get("code") == "SPAWNER_LOST", "not told")
        assert "the spawner is gone" in daemon.log
        # All else goes on.
        assert daemon.get("/api/health").json()["guard"]["state"] == "watching"
        os.kill(daemon.guard, signal.SIGKILL)
        until(lambda: daemon.get("/api/health").json()["guard"]["state"] == "lost", "not told of the guard")
        until(lambda: daemon.get("/api/robot").json()["emergencyStopped"], "not stopped")


def test_switched_off_it_says_so(tmp_path):
    with OnALine(tmp_path, runtime=", confine: false") as daemon:
        assert status(daemon.process.pid)["Seccomp"] == ["0"]
        assert "the program keeps every privilege" in daemon.log
        assert len(children(daemon.process.pid)) == 1
