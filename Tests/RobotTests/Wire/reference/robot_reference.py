"""Reference decoder of the robot's datagrams, written against Sources/Wire/README.md with the standard library only.

Shares no code and no idea of implementation with the Swift decoder. Run: reads datagrams from standard input, each with
its length before it (four bytes, little-endian), and prints one line for each: `reject CLASS`, or
`accept KIND LEFT RIGHT TIMESTAMP ECHO MISMATCH` (of a twist LINEAR and ANGULAR) with the bit patterns of doubles in hexadecimal and `-` for none.
"""

import json
import math
import re
import struct
import sys

MAXIMUM_LENGTH = 1024
MAXIMUM_DEPTH = 16
LARGEST_ECHO = 2**53
WHITE_SPACE = " \t\r\n"
CSV_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?")


class Reject(Exception):
    pass


class Number:
    def __init__(self, text):
        self.text = text

    def finite(self):
        value = float(self.text)
        if not math.isfinite(value):
            raise Reject("not-finite")
        return value

    def whole(self):
        value = self.finite()
        exact = int(self.text) if self.text.isdigit() else value
        if not (0 <= exact <= LARGEST_ECHO and value == math.floor(value)):
            raise Reject("out-of-range")
        return int(exact)


class Object:
    def __init__(self, pairs):
        self.pairs = pairs


def refuse_constant(name):
    raise Reject("syntax")


JSON = json.JSONDecoder(
    object_pairs_hook=Object,
    parse_int=Number,
    parse_float=Number,
    parse_constant=refuse_constant,
)


def depth(value):
    if isinstance(value, Object):
        return 1 + max((depth(inner) for _, inner in value.pairs), default=0)
    if isinstance(value, list):
        return 1 + max((depth(inner) for inner in value), default=0)
    return 0


def clamp(value):
    return max(-100.0, min(100.0, value))


def decode_json(text):
    try:
        root = JSON.decode(text)
    except (ValueError, RecursionError):
        raise Reject("syntax")
    if not isinstance(root, Object) or depth(root) > MAXIMUM_DEPTH:
        raise Reject("syntax")
    fields = dict(root.pairs)

    def number(key):
        if key not in fields or fields[key] is None and key in ("timestamp", "echo"):
            return None
        if not isinstance(fields[key], Number):
            raise Reject("wrong-type")
        return fields[key]

    def finite(key):
        found = number(key)
        return None if found is None else found.finite()

    def or_zero(value):
        return 0.0 if value is None else value

    left, right, timestamp = finite("left"), finite("right"), finite("timestamp")
    echo = number("echo")
    echo = None if echo is None else echo.whole()
    speed, direction = finite("speed"), finite("direction")
    linear = finite("linear")
    if linear is not None and abs(linear) > 100:
        raise Reject("out-of-range")
    angular = finite("angular")
    if angular is not None and abs(angular) > 100:
        raise Reject("out-of-range")
    if timestamp is not None and timestamp > 1e12:
        timestamp = timestamp / 1000

    if "command" in fields:
        command = fields["command"]
        if not isinstance(command, str):
            raise Reject("wrong-type")
        kinds = {"stop": "stop", "estop": "estop", "e-stop": "estop", "emergency_stop": "estop", "reset": "reset", "query": "query"}
        if command == "move":
            speed, direction = clamp(or_zero(speed)), clamp(or_zero(direction))
            left, right = speed + direction, speed - direction
            largest = max(abs(left), abs(right))
            if largest > 100:
                left, right = clamp(left * 100 / largest), clamp(right * 100 / largest)
            return "drive", left, right, timestamp, echo, False
        if command not in kinds:
            raise Reject("unknown-command")
        return kinds[command], None, None, timestamp, echo, False
    if linear is not None or angular is not None:
        if left is not None or right is not None:
            raise Reject("two-units")
        return "twist", or_zero(linear), or_zero(angular), timestamp, echo, False
    if left is not None or right is not None:
        return "drive", clamp(or_zero(left)), clamp(or_zero(right)), timestamp, echo, False
    if echo is not None:
        return "query", None, None, timestamp, echo, False
    raise Reject("missing")


def decode_csv(text):
    fields = [field.strip(WHITE_SPACE) for field in text.split(",")]
    if len(fields) not in (2, 3):
        raise Reject("syntax")
    speeds = []
    for field in fields[:2]:
        if not CSV_NUMBER.fullmatch(field):
            raise Reject("syntax")
        if not math.isfinite(float(field)):
            raise Reject("syntax")
        speeds.append(float(field))
    left, right = speeds
    direction = fields[2] if len(fields) == 3 else "0"
    if direction not in ("0", "1", "2"):
        raise Reject("syntax")
    mismatch = False
    if direction != "0":
        if left == right:
            magnitude = abs(left)
            left, right = (0.0 - magnitude, magnitude) if direction == "1" else (magnitude, 0.0 - magnitude)
        else:
            mismatch = right < left if direction == "1" else right > left
    return "drive", clamp(left), clamp(right), None, None, mismatch


def decode(data):
    if len(data) > MAXIMUM_LENGTH:
        raise Reject("too-long")
    try:
        text = data.decode("utf-8", "strict")
    except UnicodeDecodeError:
        raise Reject("syntax")
    if not text.strip(WHITE_SPACE):
        raise Reject("empty")
    return decode_json(text) if text.lstrip(WHITE_SPACE)[0] == "{" else decode_csv(text)


def bits(value):
    return "-" if value is None else struct.pack(">d", value).hex()


def line(data):
    try:
        kind, left, right, timestamp, echo, mismatch = decode(data)
    except Reject as reject:
        return f"reject {reject}"
    echo = "-" if echo is None else str(echo)
    return f"accept {kind} {bits(left)} {bits(right)} {bits(timestamp)} {echo} {int(mismatch)}"


def main():
    data = sys.stdin.buffer.read()
    lines = []
    position = 0
    while position < len(data):
        (length,) = struct.unpack_from("<I", data, position)
        position += 4
        lines.append(line(data[position : position + length]))
        position += length
    sys.stdout.write("\n".join(lines) + "\n")


main()
