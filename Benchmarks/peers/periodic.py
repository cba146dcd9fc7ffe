"""periodic.py RATE_HZ SECONDS OUT: a loop as it is usually written in Python, sleeping to absolute instants."""
import array
import sys
import time

rate, seconds, out = int(sys.argv[1]), float(sys.argv[2]), sys.argv[3]
period = 1_000_000_000 // rate
samples = array.array("q")
following = time.monotonic_ns() + 10_000_000
end = following + int(seconds * 1e9)
while following < end:
    remaining = following - time.monotonic_ns()
    if remaining > 0:
        time.sleep(remaining / 1e9)
    now = time.monotonic_ns()
    samples.append(now - following)
    following += period
    while following < now:
        following += period
with open(out, "wb") as file:
    samples.tofile(file)
