// Heartbeats for `tactus guard --timeout 500ms --outputs outputs.yaml -- ./robot`. Copy this file beside your program (gnu99, C++).
//
//     struct tactus_guard guard = tactus_guard_find();
//     for (;;) {
//       if (tactus_guard_beat(&guard) < 0) return 1;   // in the loop that must not hang
//       …
//     }
//
// A heartbeat costs a system call or two, only as often as one is due, and never blocks. Without a guard, as on a desk, it does nothing.
#pragma once
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>

struct tactus_guard {
  int socket;       // −1 without a guard
  int64_t period;   // ns
  uint64_t number;
  int64_t sent;
  uint64_t written;
};

// tactus_guard_message in CTactusGuard.h; times are nanoseconds of CLOCK_MONOTONIC.
struct tactus_guard_words {
  uint64_t kind, number;
  int64_t due, sent;
  uint64_t watched, advanced, written;
};

// The guard that this program was started under.
static inline struct tactus_guard tactus_guard_find(void) {
  struct tactus_guard guard = {-1, 0, 0, 0, 0};
  const char *descriptor = getenv("TACTUS_GUARD_FD"), *period = getenv("TACTUS_GUARD_PERIOD_MS");
  if (!descriptor || !period) return guard;
  guard.socket = atoi(descriptor);
  guard.period = (int64_t)atoi(period) * 1000000;
  // Programs that this one starts have no part in it.
  fcntl(guard.socket, F_SETFD, FD_CLOEXEC);
  unsetenv("TACTUS_GUARD_FD");
  return guard;
}

static inline int tactus_guard_send_words(struct tactus_guard *guard, uint64_t kind, uint64_t number, int64_t now) {
  struct tactus_guard_words words = {kind, number, now, now, 0, 0, 0};
  if (send(guard->socket, &words, sizeof words, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0 || errno == EAGAIN) return 0;
  return -1;
}

// Says that the program is alive. Returns 0; 1 if the guard has made the outputs safe since the last call: write them again; or −1 if the
// guard process has died: from now on nothing makes the outputs safe.
static inline int tactus_guard_beat(struct tactus_guard *guard) {
  struct timespec clock;
  clock_gettime(CLOCK_MONOTONIC, &clock);
  int64_t now = (int64_t)clock.tv_sec * 1000000000 + clock.tv_nsec;
  if (guard->socket < 0 || now - guard->sent < guard->period) return 0;
  guard->sent = now;
  if (tactus_guard_send_words(guard, 2, ++guard->number, now) < 0) return -1;
  uint64_t before = guard->written;
  struct tactus_guard_words answer;
  ssize_t count;
  while ((count = recv(guard->socket, &answer, sizeof answer, MSG_DONTWAIT)) > 0) {
    if (count == (ssize_t)sizeof answer && answer.kind == 3) guard->written = answer.written;
  }
  if (count == 0) return -1;
  return guard->written > before;
}

// Asks for the safe state now, once. Does not wait for it.
static inline int tactus_guard_make_safe(struct tactus_guard *guard) {
  return guard->socket < 0 ? 0 : tactus_guard_send_words(guard, 4, 0, 0);
}
