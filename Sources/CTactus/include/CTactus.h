// The few calls of the C library and the kernel that the runtime makes. Those a tick may reach are marked so that the
// Swift compiler accepts them there; the others belong to start and stop.
#pragma once
#include <stddef.h>
#include <stdint.h>

#define TACTUS_REALTIME __attribute__((swift_attr("@_noLocks"), swift_attr("@_noAllocation")))

#include "CTactusMath.h"
#include "CTactusTape.h"

// ---- In ticks ----

/// Returns CLOCK_MONOTONIC in nanoseconds. The function is a vDSO call of about 20 ns, no system call.
TACTUS_REALTIME int64_t tactus_monotonic_now(void);

/// Returns by how many nanoseconds CLOCK_REALTIME is ahead of CLOCK_MONOTONIC. The function makes two vDSO calls.
TACTUS_REALTIME int64_t tactus_realtime_lead(void);

/// Sleeps until CLOCK_MONOTONIC reaches `instant`, and continues to sleep after a signal.
TACTUS_REALTIME void tactus_sleep_until(int64_t instant);

/// Arms a timerfd for an absolute CLOCK_MONOTONIC instant, or disarms it for INT64_MAX.
TACTUS_REALTIME void tactus_timer_arm(int32_t timer, int64_t instant);

struct tactus_wait {
  int32_t descriptor;  // −1: not waited for
  int32_t ready;       // set by the wait: readable, or in error so that reading it will say what is wrong
};

/// Blocks until one of at most 64 descriptors is readable. Returns the number of readable ones, or 0 after a signal.
TACTUS_REALTIME int32_t tactus_wait_any(struct tactus_wait *waits, int32_t count);

/// Adds 1 to an eventfd, which wakes the threads that poll it. The call never blocks.
TACTUS_REALTIME void tactus_eventfd_signal(int32_t eventfd);

/// Resets an eventfd to 0.
TACTUS_REALTIME void tactus_eventfd_clear(int32_t eventfd);

/// Returns the processor time of the calling thread in nanoseconds. The function makes a system call.
TACTUS_REALTIME int64_t tactus_thread_processor_time(void);

/// Reports to RealtimeSanitizer, if the binary is linked with its runtime, that a tick begins or ends. Otherwise does nothing.
TACTUS_REALTIME void tactus_tick_begins(void);
TACTUS_REALTIME void tactus_tick_ends(void);

/// Returns whether RealtimeSanitizer's runtime is in this binary.
int32_t tactus_sanitizer_is_linked(void);

/// Converts decimal text to the nearest double in the C locale, correctly rounded, with ±infinity beyond the range of doubles.
/// `text` must be a decimal number of `length` bytes, 1…1024; otherwise the result is NaN.
TACTUS_REALTIME double tactus_parse_double(const char *text, size_t length);

// For builds with switches alone (Sources/Tactus/Safety/Mechanism.swift); the others define none of the three.

/// Returns whether the mechanism with this number does its work.
TACTUS_REALTIME int32_t tactus_mechanism_acts(uint8_t mechanism);
/// Removes a mechanism. The function must be called before main only.
void tactus_mechanism_remove(uint8_t mechanism);
/// Prints this text and ends the process with status 64.
void tactus_mechanisms_refuse(const char *text);

// ---- At start and stop ----

/// Returns 1 if the kernel reports that a service such as NTP synchronises CLOCK_REALTIME (or systemd's NTP client does, if the
/// kernel may not be queried), 0 if it does not, or −errno. The function makes a system call.
int32_t tactus_clock_is_synchronised(void);

/// Creates a timerfd on CLOCK_MONOTONIC. Returns its descriptor or −errno.
int32_t tactus_timer_create(void);
/// Creates a nonblocking eventfd. Returns its descriptor or −errno.
int32_t tactus_eventfd_create(void);
/// Blocks until `eventfd` is signalled, then clears it. Returns 0 if `timeout_ms` passed first; a negative timeout means no limit.
int32_t tactus_eventfd_wait(int32_t eventfd, int32_t timeout_ms);
void tactus_close(int32_t descriptor);

/// The state of a thread before a lane uses it.
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

/// The Linux scheduling policies as in <linux/sched.h>.
enum { TACTUS_SCHED_OTHER = 0, TACTUS_SCHED_FIFO = 1, TACTUS_SCHED_RR = 2, TACTUS_SCHED_DEADLINE = 6 };

/// Runs `body` on a new detached thread. Returns 0 or −errno without waiting.
int32_t tactus_thread_run(void *(*body)(void *), void *context);

/// The following functions act on the calling thread and return 0 or −errno.
int32_t tactus_thread_save(struct tactus_thread_state *state);
int32_t tactus_thread_restore(const struct tactus_thread_state *state);
int32_t tactus_thread_set_fifo(int32_t priority);
int32_t tactus_thread_set_deadline(uint64_t runtime, uint64_t deadline, uint64_t period);
/// Sets and reads the CPUs of the thread, 0…1023, where CPU n is bit n modulo 64 of word n / 64. The set CPUs are the requested
/// ones; the read CPUs are those that the kernel lets the thread use.
int32_t tactus_thread_set_cpus(const uint64_t cpus[16]);
int32_t tactus_thread_cpus(uint64_t cpus[16]);
int32_t tactus_thread_set_timer_slack(uint64_t nanoseconds);
int32_t tactus_thread_set_name(const char *name);
/// Touches `bytes` of the calling thread's stack, so that no tick causes page faults there.
void tactus_thread_touch_stack(void);

/// Opens the device at `path` and requests a wake-up latency of at most `microseconds`, as long as the device is open. Returns the
/// descriptor or −errno. `effective` gets the latency that results from all requests, or −1 if it cannot be read.
int32_t tactus_latency_hold(const char *path, int32_t microseconds, int32_t *effective);

/// Reads at most `size` bytes of a file. Returns their number or −errno.
int32_t tactus_read_file(const char *path, char *bytes, int32_t size);

/// Calls mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT). Returns 0 or −errno.
int32_t tactus_memory_lock(void);
int32_t tactus_memory_unlock(void);

/// Returns the soft limit of RLIMIT_RTTIME, RLIMIT_RTPRIO or RLIMIT_MEMLOCK, or −1 for unlimited.
int64_t tactus_limit_rttime(void);
int64_t tactus_limit_rtprio(void);
int64_t tactus_limit_memlock(void);

/// Returns sched_rt_runtime_us or sched_rt_period_us of /proc/sys/kernel, or −1 if it cannot be read.
int64_t tactus_rt_runtime_us(void);
int64_t tactus_rt_period_us(void);

/// Returns the number of threads of other processes whose real-time priority is above `priority`. `name` gets the name of one of them.
int32_t tactus_rival_threads(int32_t priority, char name[16], int32_t *pid);
