"""What keeps a test apart from its machine and from other tests: ports, and folders for all that a program keeps by itself."""
import os
import socket
from pathlib import Path

# What a service manager or a person has told the process that runs the tests, and no program that a test starts should hear.
OF_OTHERS = {
    "TACTUS_TOKEN", "NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID", "LISTEN_FDS", "LISTEN_PID", "RUNTIME_DIRECTORY", "STATE_DIRECTORY",
    "CACHE_DIRECTORY", "LOGS_DIRECTORY", "CONFIGURATION_DIRECTORY", "CREDENTIALS_DIRECTORY",
}
FOLDERS = {
    "HOME": ".", "XDG_STATE_HOME": ".local/state", "XDG_CONFIG_HOME": ".config", "XDG_DATA_HOME": ".local/share",
    "XDG_RUNTIME_DIR": "run", "TMPDIR": "tmp",
}
# Names the folder of GStreamer's list of its plug-ins, which takes seconds to make, and once a run is enough.
SHARED_CACHE = "TACTUS_TEST_CACHE"


def own_environment(folder, owner=None, **more):
    """The environment of a program that a test starts: whatever it keeps by itself, and does not share with those of other users, lies in `home`
    below the folder, which belongs to the user `owner` (unless given: to who runs the tests). `more` is added; what is None there is taken out."""
    home = Path(folder).resolve() / "home"
    places = {name: home / place for name, place in FOLDERS.items()}
    places["XDG_CACHE_HOME"] = Path(os.environ.get(SHARED_CACHE, home / ".cache"))
    for place in places.values():
        place.mkdir(parents=True, exist_ok=True)
    # As a machine's are: one for everybody's files, one for nobody else's.
    places["TMPDIR"].chmod(0o1777)
    places["XDG_RUNTIME_DIR"].chmod(0o700)
    if owner is not None:
        for one in (home, *home.rglob("*")):
            os.chown(one, owner, owner, follow_symlinks=False)
    kept = {name: value for name, value in os.environ.items() if name not in OF_OTHERS}
    found = {**kept, **{name: str(place) for name, place in places.items()}, **{name: value and str(value) for name, value in more.items()}}
    return {name: value for name, value in found.items() if value is not None}


# Below those that Linux gives to connections and to who binds to 0: nobody is given one by chance between the look at it here and the start of
# what it is for. A process takes a block for itself, for as long as it lives; where it begins to look is another for each.
FIRST, BLOCK, BLOCKS = 10_000, 50, 440
CLAIMS = []


def claimed_ports():
    """Ports of blocks that no other process has which gives ports as this one does: a name among the kernel's own sockets says so, for every
    checkout on the machine. There is no file of it, and it goes with the process."""
    begin = 101 * os.getpid()
    for number in (begin + offset for offset in range(BLOCKS)):
        first = FIRST + number % BLOCKS * BLOCK
        claim = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            claim.bind(f"\0tactus-test-ports-{first}")
        except OSError:
            claim.close()
            continue
        CLAIMS.append(claim)
        yield from range(first, first + BLOCK)
    raise RuntimeError(f"every port from {FIRST} to {FIRST + BLOCKS * BLOCK - 1} has been given away")


PORTS = claimed_ports()


def is_free(port):
    """Whether nobody has it now, of either kind, at any of this machine's addresses of IPv4."""
    try:
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
            with socket.socket(type=kind) as probe:
                probe.bind(("0.0.0.0", port))
        return True
    except OSError:
        return False


def free_port(count=1):
    """A port that is free for TCP and UDP, and that no other test on this machine is given while this process lives. The first of `count` that
    follow each other."""
    run = []
    while len(run) < count:
        port = next(PORTS)
        follows = not run or port == run[-1] + 1
        run = [*(run if follows else []), port] if is_free(port) else []
    return run[0]
