#!/usr/bin/env python3
"""A robot of two motors on a serial line, 20 times a second, and nothing in it that makes them stop."""
import os
import sys
import time

import tactus_guard

port = os.open(sys.argv[1] if len(sys.argv) > 1 else "/tmp/motors", os.O_WRONLY | os.O_NOCTTY)
guard = tactus_guard.Guard()
print(f"driving as process {os.getpid()}, {'guarded' if guard.is_there else 'without a guard'}", flush=True)
due = time.monotonic()
while True:
    if guard.beat():
        print("the guard has stopped the motors meanwhile", flush=True)
    os.write(port, b"speed 40 40\n")
    due = max(due + 0.05, time.monotonic())
    time.sleep(max(0, due - time.monotonic()))
