"""The machine that hardware.c plays, seen from outside: what was written to its chips and lines, when, and by whom."""
import atexit
import mmap
import os
import shutil
import struct
import subprocess
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

# As in hardware.c.
REQUESTS, ENTRIES, ENTRIES_AT = 8, 32_768, 65_536
ENTRY = struct.Struct("<qiBBBB32sQQ")
I2C_WRITE, LINES_SET = 1, 2
ROBOT_BOARD, LEG_CHIP = 0x16, 0x40
COMPILER = shutil.which("cc") or shutil.which("clang")


@cache
def library():
    """hardware.c, compiled."""
    path = Path(tempfile.mkdtemp(prefix="tactus-hardware-")) / "libi2c.so.0"
    atexit.register(shutil.rmtree, path.parent, ignore_errors=True)
    subprocess.run(
        [COMPILER, "-shared", "-fPIC", "-O1", "-o", path, Path(__file__).with_name("hardware.c"), "-ldl"], check=True)
    return path


@dataclass
class Write:
    """One write: `at` in nanoseconds of CLOCK_MONOTONIC, `process` who made it."""
    at: int
    process: int
    kind: int
    address: int
    first: int
    data: bytes
    mask: int
    values: int


class Hardware:
    """A machine of its own in a folder of its own."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.folder.mkdir(parents=True)
        for number in range(REQUESTS):
            (self.folder / f"lines{number}").touch()
        size = ENTRIES_AT + ENTRIES * ENTRY.size
        with open(self.folder / "journal", "wb+") as file:
            file.truncate(size)
            self.memory = mmap.mmap(file.fileno(), size)
        # A copy each: the library finds its journal by its own place.
        shutil.copy(library(), self.folder / "libi2c.so.0")

    @property
    def environment(self):
        paths = [str(self.folder), *filter(None, [os.environ.get("LD_LIBRARY_PATH")])]
        return {"LD_LIBRARY_PATH": ":".join(paths)}

    @property
    def count(self):
        """How many writes there have been."""
        return struct.unpack_from("<I", self.memory, 0)[0]

    def hang(self, process):
        """Writes of that process do not end until `hang(0)`."""
        struct.pack_into("<ii", self.memory, 4, process, 0)

    @property
    def hangs(self):
        return struct.unpack_from("<i", self.memory, 8)[0] != 0

    def writes(self, since=0):
        for number in range(max(since, self.count - ENTRIES), self.count):
            at, process, kind, address, first, count, data, mask, values = ENTRY.unpack_from(
                self.memory, ENTRIES_AT + number % ENTRIES * ENTRY.size)
            yield Write(at, process, kind, address, first, data[:count], mask, values)


class Outputs:
    """What is on, by what its board was told. It knows the boards and nothing of the program."""

    def __init__(self):
        self.chip = bytearray(256)
        self.motors, self.pulse, self.lines = False, False, 0

    def take(self, write):
        if write.kind == LINES_SET:
            self.lines = (self.lines & ~write.mask) | (write.values & write.mask)
        elif write.address == ROBOT_BOARD:
            if write.first == 0x01 and len(write.data) == 4:
                self.motors = write.data[1] != 0 or write.data[3] != 0
            elif write.first == 0x02:
                self.motors = False
        elif write.address == LEG_CHIP:
            self.take_chip(write)

    def take_chip(self, write):
        for index, value in enumerate(write.data):
            register = (write.first + index) % 256
            self.chip[register] = value
            if 0xFA <= register <= 0xFD:
                for channel in range(16):
                    self.chip[0x06 + 4 * channel + register - 0xFA] = value
        channels = (self.chip[0x06 + 4 * channel: 0x0A + 4 * channel] for channel in range(16))
        # Off wins over on; a channel that was never written has no pulse either.
        self.pulse = any(not channel[3] & 0x10 and any(channel) for channel in channels)

    @property
    def state(self):
        return {"robot": self.motors, "leg": self.pulse, "sprinkler": self.lines != 0}


def safe_since(hardware, since=0):
    """For each output the instant since which it has been off, in nanoseconds; `None` if it is on."""
    outputs, offs = Outputs(), dict.fromkeys(Outputs().state, 0)
    for write in hardware.writes(since):
        outputs.take(write)
        for name, is_on in outputs.state.items():
            if is_on:
                offs[name] = None
            elif offs[name] is None:
                offs[name] = write.at
    return offs
