// The few calls of the C library and the kernel that the runtime makes. Those a tick may reach are marked so that the
// Swift compiler accepts them there; the others belong to start and stop.
#pragma once
#include <stddef.h>
#include <stdint.h>

#define TACTUS_REALTIME __attribute__((swift_attr("@_noLocks"), swift_attr("@_noAllocation")))

#include "CTactusMath.h"

// ---- In ticks ----

/// CLOCK_MONOTONIC in nanoseconds. A vDSO call: about 20 ns, no system call.
TACTUS_REALTIME int64_t tactus_monotonic_now(void);

/// By how many nanoseconds CLOCK_REALTIME is ahead of CLOCK_MONOTONIC. Two vDSO calls.
TACTUS_REALTIME int64_t tactus_realtime_lead(void);

/// Sleeps until CLOCK_MONOTONIC reaches `instant`; goes on sleeping after a signal.
TACTUS_REALTIME void tactus_sleep_until(int64_t instant);

/// Arms a timerfd for an absolute CLOCK_MONOTONIC instant; INT64_MAX disarms it.
TACTUS_REALTIME void tactus_timer_arm(int32_t timer, int64_t instant);

struct tactus_wait {
  int32_t descriptor;  // −1: not waited for
  int32_t ready;       // set by the wait: readable, or in error so that reading it will say what is wrong
};

/// Blocks until one of at most 64 descriptors is readable; returns how many are. A signal ends it with 0.
TACTUS_REALTIME int32_t tactus_wait_any(struct tactus_wait *waits, int32_t count);

/// Adds 1 to an eventfd: wakes whoever polls it. Never blocks.
TACTUS_REALTIME void tactus_eventfd_signal(int32_t eventfd);

/// Takes an eventfd back to 0.
TACTUS_REALTIME void tactus_eventfd_clear(int32_t eventfd);

/// Processor time of the calling thread in nanoseconds: a system call.
TACTUS_REALTIME int64_t tactus_thread_processor_time(void);

/// Tells RealtimeSanitizer, where a binary is linked with its runtime, that a tick begins or ends; otherwise nothing.
TACTUS_REALTIME void tactus_tick_begins(void);
TACTUS_REALTIME void tactus_tick_ends(void);

/// Whether RealtimeSanitizer's runtime is in this binary.
int32_t tactus_sanitizer_is_linked(void);

/// Decimal text to the nearest double, in the C locale: correctly rounded, ±infinity beyond the range of doubles. `text`
/// must be a decimal number of `length` bytes, 1…1024; returns NaN otherwise.
TACTUS_REALTIME double tactus_parse_double(const char *text, size_t length);

// For builds with switches alone (Sources/Tactus/Safety/Mechanism.swift); the others define none of the three.

/// Whether the mechanism of this number does its work.
TACTUS_REALTIME int32_t tactus_mechanism_acts(uint8_t mechanism);
/// Removes it; before main alone.
void tactus_mechanism_remove(uint8_t mechanism);
/// Ends the process with status 64, after this text.
void tactus_mechanisms_refuse(const char *text);

// ---- At start and stop ----

/// Whether the kernel says that something such as NTP keeps CLOCK_REALTIME right, or systemd's NTP client where the kernel may not be asked: 1,
/// 0, or −errno. A system call.
int32_t tactus_clock_is_synchronised(void);

/// timerfd on CLOCK_MONOTONIC, or −errno.
int32_t tactus_timer_create(void);
/// Non-blocking eventfd, or −errno.
int32_t tactus_eventfd_create(void);
/// Blocks until `eventfd` is signalled, then clears it; false after `timeout_ms` (negative: for ever).
int32_t tactus_eventfd_wait(int32_t eventfd, int32_t timeout_ms);
void tactus_close(int32_t descriptor);

/// What a thread was before a lane took it.
struct tactus_thread_state {
  int32_t policy;
  int32_t priority;
  int64_t nice;
  uint64_t dl_runtime, dl_deadline, dl_period;
  uint64_t flags;
  uint64_t cpus[16];  // bit n of word n / 64
  uint64_t timer_slack;
  char name[16];
};

/// Linux scheduling policies as in <linux/sched.h>.
enum { TACTUS_SCHED_OTHER = 0, TACTUS_SCHED_FIFO = 1, TACTUS_SCHED_RR = 2, TACTUS_SCHED_DEADLINE = 6 };

/// Runs `body` on a new thread that nobody joins; 0 or −errno, at once.
int32_t tactus_thread_run(void *(*body)(void *), void *context);

/// All of these act on the calling thread and return 0 or −errno.
int32_t tactus_thread_save(struct tactus_thread_state *state);
int32_t tactus_thread_restore(const struct tactus_thread_state *state);
int32_t tactus_thread_set_fifo(int32_t priority);
int32_t tactus_thread_set_deadline(uint64_t runtime, uint64_t deadline, uint64_t period);
/// CPUs 0…1023: bit n of word n / 64. Those that are asked for, and those that the kernel lets the thread use.
int32_t tactus_thread_set_cpus(const uint64_t cpus[16]);
int32_t tactus_thread_cpus(uint64_t cpus[16]);
int32_t tactus_thread_set_timer_slack(uint64_t nanoseconds);
int32_t tactus_thread_set_name(const char *name);
/// Touches `bytes` of the calling thread's stack so that no tick faults them in.
void tactus_thread_touch_stack(void);

/// Opens the device at `path` and asks for a wake-up latency of at most so many µs, as long as it is open: the descriptor, or
/// −errno. `effective` gets what all who ask hold it to; −1: not readable.
int32_t tactus_latency_hold(const char *path, int32_t microseconds, int32_t *effective);

/// Reads at most `size` bytes of a file; how many, or −errno.
int32_t tactus_read_file(const char *path, char *bytes, int32_t size);

/// mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT); 0 or −errno.
int32_t tactus_memory_lock(void);
int32_t tactus_memory_unlock(void);

/// RLIMIT_RTTIME, RLIMIT_RTPRIO, RLIMIT_MEMLOCK soft limits; −1: unlimited.
int64_t tactus_limit_rttime(void);
int64_t tactus_limit_rtprio(void);
int64_t tactus_limit_memlock(void);

/// sched_rt_runtime_us and sched_rt_period_us of /proc/sys/kernel; −1 when not readable.
int64_t tactus_rt_runtime_us(void);
int64_t tactus_rt_period_us(void);

/// Threads of other processes whose real-time priority is above `priority`; `name` gets one of them.
int32_t tactus_rival_threads(int32_t priority, char name[16], int32_t *pid);
