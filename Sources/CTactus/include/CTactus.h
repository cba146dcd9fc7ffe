// The few calls of the C library and the kernel that the runtime makes, each marked so that the Swift compiler accepts
// it inside a tick (no lock, no allocation) or left unmarked where it may do either.
#pragma once
#include <stddef.h>
#include <stdint.h>

#define TACTUS_REALTIME __attribute__((swift_attr("@_noLocks"), swift_attr("@_noAllocation")))

/// CLOCK_MONOTONIC in nanoseconds. A vDSO call: about 20 ns, no system call.
TACTUS_REALTIME int64_t tactus_monotonic_now(void);

/// e^x, for first-order lags in simulated worlds.
TACTUS_REALTIME double tactus_exp(double x);

/// Decimal text to the nearest double, in the C locale: correctly rounded, ±infinity beyond the range of doubles. `text`
/// must be a decimal number of `length` bytes, 1…1024; returns NaN otherwise.
TACTUS_REALTIME double tactus_parse_double(const char *text, size_t length);
