// What the benchmark program needs of the C library beyond what Tactus offers.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define BENCH_REALTIME __attribute__((swift_attr("@_noLocks"), swift_attr("@_noAllocation")))

/// CLOCK_MONOTONIC in nanoseconds.
BENCH_REALTIME int64_t bench_now(void);

/// The calling thread's processor time in nanoseconds.
BENCH_REALTIME int64_t bench_processor_time(void);

/// Keeps the calling thread on one processor.
void bench_pin(int cpu);

/// Runs `body(context)` on a new thread pinned to `cpu`; returns a handle for `bench_join`.
uint64_t bench_thread(int cpu, void (*body)(void *), void *context);
void bench_join(uint64_t thread);

/// Calls counted by the preloaded library; −1 when it is not there. 
BENCH_REALTIME long bench_counted_allocations(void);
BENCH_REALTIME long bench_counted_locks(void);

/// write(2).
BENCH_REALTIME ssize_t bench_write(int descriptor, const void *bytes, size_t count);

/// send(2) without waiting: what does not fit is dropped.
BENCH_REALTIME void bench_send_now(int descriptor, const void *bytes, size_t count);

/// Really sleeps, also on the preloaded null kernel.
BENCH_REALTIME void bench_pause(int milliseconds);

/// Blocks SIGTERM and waits for it.
void bench_block_termination(void);
void bench_await_termination(void);

/// Keeps the compiler from dropping what led to `value`.
BENCH_REALTIME static inline void bench_use(uint64_t value) { __asm__ volatile("" : : "r"(value) : "memory"); }

#include "CBenchPID.h"
