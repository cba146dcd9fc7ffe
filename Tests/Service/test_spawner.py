"""The spawner alone: `tactus spawner`, started with a socket of ours as the daemon starts it. Its children are ours."""
import array
import errno
import os
import random
import signal
import socket
import struct
import subprocess
import time
from pathlib import Path

import pytest

from daemon import PROGRAM

LIMIT_SECONDS = 60
PROGRAM_ENTRY, DEVICE_ENTRY, SEAL, START, OPEN, SIGNAL = range(1, 7)
SHARED, ERROR_FIRST, NONE = range(3)
HEAD = struct.Struct("<IIIiI")


class Spawner:
    def __init__(self, folder):
        self.socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.settimeout(LIMIT_SECONDS)
        self.process = start(theirs, folder)
        theirs.close()
        self.number = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()
        assert self.process.wait(LIMIT_SECONDS) == 0

    def send(self, message, descriptors=()):
        self.socket.sendmsg([message], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))] if descriptors else [])
        reply, control, *_ = self.socket.recvmsg(64, socket.CMSG_SPACE(64))
        number, result, process = struct.unpack("<Iii", reply)
        opened = [number for _, _, data in control for number in struct.unpack(f"{len(data) // 4}i", data)]
        return number, result, process, opened

    def ask(self, kind, entry=0, value=0, descriptors=0, rest=b"", given=()):
        self.number += 1
        number, *answer = self.send(HEAD.pack(self.number, kind, entry, value, descriptors) + rest, given)
        assert number == self.number
        return answer


def start(theirs, folder):
    return subprocess.Popen(
        [PROGRAM, "spawner", folder], stdin=subprocess.DEVNULL, pass_fds=[3],
        preexec_fn=lambda: os.dup2(theirs.fileno(), 3)) if theirs.fileno() != 3 else None


def ended(process):
    """The status of a child of ours, which is waited for with a limit."""
    end = time.monotonic() + LIMIT_SECONDS
    while (found := os.waitpid(process, os.WNOHANG)) == (0, 0):
        assert time.monotonic() < end, f"process {process} is still there"
        time.sleep(0.01)
    return found[1]


class Pair(Spawner):
    """A spawner with the one that stands by for it. Requests go to whoever `socket` is of."""

    def __init__(self, folder):
        kept = [os.open("/dev/null", os.O_RDONLY) for _ in range(6)]
        self.first, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.second, theirs_too = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        for one in (self.first, self.second):
            one.settimeout(LIMIT_SECONDS)

        def place():
            os.dup2(theirs.fileno(), 3)
            os.dup2(theirs_too.fileno(), 4)
        self.process = subprocess.Popen(
            [PROGRAM, "spawner", folder], stdin=subprocess.DEVNULL, pass_fds=[3, 4], preexec_fn=place)
        for one in (theirs, theirs_too):
            one.close()
        for descriptor in kept:
            os.close(descriptor)
        self.socket = self.second
        self.number = 0
        number, result, self.standby = struct.unpack("<Iii", self.second.recv(64))
        assert number == result == 0 and self.standby > 0

    def __exit__(self, *_):
        for one in (self.first, self.second):
            one.close()
        self.process.wait(LIMIT_SECONDS)
        assert ended(self.standby) == 0

    def tell(self, *request):
        """Both."""
        for self.socket in (self.first, self.second):
            assert self.ask(*request)[0] == 0


def words(*texts):
    return b"".join(text.encode() + b"\0" for text in texts)


@pytest.fixture
def spawner(tmp_path):
    # Descriptor 3 must not be a socket's own number here.
    kept = [os.open("/dev/null", os.O_RDONLY) for _ in range(4)]
    with Spawner(tmp_path) as one:
        yield one
    for descriptor in kept:
        os.close(descriptor)


def refused(answer, reason):
    assert answer[0] == -reason, (errno.errorcode.get(-answer[0]), errno.errorcode[reason])


def test_only_what_was_defined_before_the_seal_is_started_and_opened(spawner):
    assert spawner.ask(PROGRAM_ENTRY, 0, NONE, 1, words("/bin/sh", "sh", "-c", "echo started >&3; exec sleep 600"))[0] == 0
    assert spawner.ask(DEVICE_ENTRY, 1, os.O_RDONLY, 0, words("/dev/zero"))[0] == 0
    assert spawner.ask(SEAL)[0] == 0
    for late in (spawner.ask(PROGRAM_ENTRY, 2, NONE, 0, words("/bin/true", "true")),
                 spawner.ask(DEVICE_ENTRY, 2, os.O_RDONLY, 0, words("/etc/shadow")),
                 spawner.ask(START, 2), spawner.ask(OPEN, 2), spawner.ask(OPEN, 0), spawner.ask(START, 1)):
        refused(late, errno.EPERM)
    result, _, opened = spawner.ask(OPEN, 1)
    assert result == 0 and os.readlink(f"/proc/self/fd/{opened[0]}") == "/dev/zero"
    os.close(opened[0])
    ours, theirs = os.pipe()
    refused(spawner.ask(START, 0), errno.EINVAL)
    refused(spawner.ask(START, 0, 0, 2, given=[theirs, theirs]), errno.EINVAL)
    process, again, _ = spawner.ask(START, 0, 0, 1, given=[theirs])
    assert process == again > 0
    os.close(theirs)
    assert os.read(ours, 100) == b"started\n"
    # Its parent is who started the spawner, it has a session of its own, and nothing but what it was handed.
    assert os.getsid(process) == process
    end = time.monotonic() + LIMIT_SECONDS
    while Path(f"/proc/{process}/comm").read_text() != "sleep\n":
        assert time.monotonic() < end
        time.sleep(0.01)
    # A program that has just become another still loads its libraries.
    while (found := sorted(os.listdir(f"/proc/{process}/fd"))) != ["0", "1", "2", "3"]:
        assert time.monotonic() < end, found
        time.sleep(0.01)
    refused(spawner.ask(START, 0, 0, 1, given=[ours]), errno.EBUSY)
    refused(spawner.ask(SIGNAL, 0, signal.SIGSTOP), errno.EINVAL)
    assert spawner.ask(SIGNAL, 0, signal.SIGKILL)[0] == 0
    assert os.waitpid(process, 0) == (process, signal.SIGKILL)
    refused(spawner.ask(SIGNAL, 0, signal.SIGKILL), errno.ESRCH)
    os.close(ours)


@pytest.mark.parametrize("kind, entry, value, descriptors, rest, reason", [
    (PROGRAM_ENTRY, 1, NONE, 0, words("/bin/true", "true"), errno.EINVAL),
    (PROGRAM_ENTRY, 0, 3, 0, words("/bin/true", "true"), errno.EINVAL),
    (PROGRAM_ENTRY, 0, -1, 0, words("/bin/true", "true"), errno.EINVAL),
    (PROGRAM_ENTRY, 0, NONE, 201, words("/bin/true", "true"), errno.EINVAL),
    (PROGRAM_ENTRY, 0, NONE, 0, words("bin/true", "true"), errno.EINVAL),
    (PROGRAM_ENTRY, 0, NONE, 0, b"/bin/true\0true", errno.EINVAL),
    (PROGRAM_ENTRY, 0, NONE, 0, b"", errno.EINVAL),
    (PROGRAM_ENTRY, 0, NONE, 0, words("/bin/true", *["x"] * 600), errno.E2BIG),
    (DEVICE_ENTRY, 0, os.O_RDWR | os.O_CREAT, 0, words("/tmp/x"), errno.EINVAL),
    (DEVICE_ENTRY, 0, os.O_RDWR, 1, words("/dev/null"), errno.EINVAL),
    (DEVICE_ENTRY, 0, os.O_RDWR, 0, words("/dev/null", "/dev/zero"), errno.E2BIG),
    (SEAL, 1, 0, 0, b"", errno.EINVAL),
    (SEAL, 0, 0, 0, b"x", errno.EBADMSG),
    (7, 0, 0, 0, b"", errno.ENOSYS),
    (0, 0, 0, 0, b"", errno.ENOSYS),
], ids=str)
def test_a_definition_with_a_flaw_is_refused(spawner, kind, entry, value, descriptors, rest, reason):
    refused(spawner.ask(kind, entry, value, descriptors, rest), reason)


def test_with_the_daemon_its_children_end_and_its_guard_does_not(tmp_path):
    kept = [os.open("/dev/null", os.O_RDONLY) for _ in range(4)]
    started = []
    with Spawner(tmp_path) as spawner:
        for entry, streams in enumerate((SHARED, ERROR_FIRST, NONE)):
            given = kept[:1] if streams == ERROR_FIRST else []
            assert spawner.ask(PROGRAM_ENTRY, entry, streams, len(given), words("/bin/sleep", "sleep", "600"))[0] == 0
            started.append(spawner.ask(START, entry, 0, len(given), given=given)[0])
    guard, video, broker = started
    assert os.waitpid(video, 0)[1] == signal.SIGKILL and os.waitpid(broker, 0)[1] == signal.SIGTERM
    assert os.waitpid(guard, os.WNOHANG) == (0, 0)
    os.kill(guard, signal.SIGKILL)
    os.waitpid(guard, 0)
    for descriptor in kept:
        os.close(descriptor)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP], ids=["killed", "hanging"])
def test_the_one_that_stands_by_ends_what_the_first_has_started_and_starts_no_other_beside_it(tmp_path, how):
    with Pair(tmp_path) as spawner:
        spawner.tell(PROGRAM_ENTRY, 0, NONE, 0, words("/bin/sleep", "sleep", "600"))
        spawner.tell(SEAL)
        refused(spawner.ask(PROGRAM_ENTRY, 1, NONE, 0, words("/bin/true", "true")), errno.EPERM)
        spawner.socket = spawner.first
        process, *_ = spawner.ask(START, 0)
        assert process > 0
        os.kill(spawner.process.pid, how)
        spawner.socket = spawner.second
        refused(spawner.ask(START, 0), errno.EBUSY)
        # The first, which may only have hung, is gone before the second does anything.
        assert spawner.process.wait(LIMIT_SECONDS) == -signal.SIGKILL
        assert spawner.ask(SIGNAL, 0, signal.SIGKILL)[0] == 0
        assert ended(process) == signal.SIGKILL
        another, *_ = spawner.ask(START, 0)
        assert another > 0
    # With the daemon.
    assert ended(another) == signal.SIGTERM


@pytest.mark.parametrize("killed", ["first", "second"])
def test_with_one_of_the_two_gone_children_end_with_the_daemon_all_the_same(tmp_path, killed):
    with Pair(tmp_path) as spawner:
        spawner.tell(PROGRAM_ENTRY, 0, NONE, 0, words("/bin/sleep", "sleep", "600"))
        spawner.tell(SEAL)
        spawner.socket = spawner.first
        process, *_ = spawner.ask(START, 0)
        # Nothing is asked of the other before the daemon goes.
        if killed == "first":
            os.kill(spawner.process.pid, signal.SIGKILL)
            spawner.process.wait(LIMIT_SECONDS)
        else:
            os.kill(spawner.standby, signal.SIGKILL)
            ended(spawner.standby)
            spawner.first.close()
            assert ended(process) == signal.SIGTERM
            spawner.standby = os.spawnv(os.P_NOWAIT, "/bin/true", ["true"])
    if killed == "first":
        assert ended(process) == signal.SIGTERM


def test_a_program_that_is_not_there_is_told_of_and_leaves_a_process_to_reap(spawner):
    assert spawner.ask(PROGRAM_ENTRY, 0, NONE, 0, words("/no/such/program", "program"))[0] == 0
    result, process, _ = spawner.ask(START, 0)
    assert result == -errno.ENOENT
    assert os.waitpid(process, 0) == (process, 127 << 8)


def test_random_messages_do_nothing_and_leave_nothing_open(spawner):
    seed = int.from_bytes(os.urandom(4))
    print("seed", seed)
    chance = random.Random(seed)
    assert spawner.ask(PROGRAM_ENTRY, 0, NONE, 1, words("/bin/true", "true"))[0] == 0
    assert spawner.ask(DEVICE_ENTRY, 1, os.O_RDONLY, 0, words("/dev/null"))[0] == 0
    assert spawner.ask(SEAL)[0] == 0
    folder = Path(f"/proc/{spawner.process.pid}/fd")
    before = sorted(os.listdir(folder))
    null = os.open("/dev/null", os.O_RDONLY)
    small = [0, 1, 2, 3, 4, 5, 6, 7, 9, 15, 200, 127, 128, 0x7FFFFFFF, 0xFFFFFFFF]
    done = 0
    for _ in range(20_000):
        given = [null] * chance.choice([0, 0, 0, 0, 1, 2, 200, 230])
        if chance.random() < 0.2:
            # A good one, of which a byte may be changed.
            fields, given = chance.choice([((START, 0, 0, 1), [null]), ((OPEN, 1, 0, 0), []), ((SEAL, 0, 0, 0), [])])
            message = bytearray(HEAD.pack(0, *fields))
            if chance.random() < 0.7:
                message[chance.randrange(4, len(message))] ^= 1 << chance.randrange(8)
            message = bytes(message)
        elif chance.random() < 0.3:
            message = chance.randbytes(chance.choice([1, 4, 19, 20, 21, 60, 3000, 40_000]))
        else:
            fields = [chance.choice(small[:10]) if chance.random() < 0.8 else chance.choice(small) for _ in range(5)]
            fields[3] -= (fields[3] & 0x80000000) << 1
            message = HEAD.pack(*fields) + (chance.randbytes(chance.choice([1, 30])) if chance.random() < 0.1 else b"")
        _, result, process, opened = spawner.send(message, given)
        is_good = False
        if len(message) == HEAD.size:
            _, kind, entry, value, descriptors = HEAD.unpack(message)
            is_good = (
                (kind, entry, value, descriptors, len(given)) in [(START, 0, 0, 1, 1), (OPEN, 1, 0, 0, 0), (SEAL, 0, 0, 0, 0)])
        for descriptor in opened:
            os.close(descriptor)
        if process:
            os.waitpid(process, 0)
        assert is_good or (result < 0 and not process and not opened), (seed, message[:40], len(given), result)
        # One that goes on while its successor is asked for is no error of the request.
        assert not is_good or result >= 0 or result == -errno.EBUSY, (seed, message, result)
        done += is_good
    print(done, "were good requests")
    assert spawner.process.poll() is None
    # The last process's handle is kept; what came with the last message is closed after its reply.
    end = time.monotonic() + LIMIT_SECONDS
    while len(os.listdir(folder)) > len(before) + 1:
        assert time.monotonic() < end, os.listdir(folder)
        time.sleep(0.01)
    os.close(null)


def test_it_serves_nobody_but_its_parent(tmp_path):
    kept = [os.open("/dev/null", os.O_RDONLY) for _ in range(4)]
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    with ours, theirs:
        assert start(theirs, tmp_path).wait(LIMIT_SECONDS) == 64
    for descriptor in kept:
        os.close(descriptor)
    assert subprocess.run([PROGRAM, "spawner"], stdin=subprocess.DEVNULL, timeout=LIMIT_SECONDS).returncode == 64
