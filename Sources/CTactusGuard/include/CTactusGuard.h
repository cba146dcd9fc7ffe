// What a guard and the program it watches need of the kernel: a pair of sockets, the messages on it, a process that is the same
// executable started anew. Every function returns −errno on failure; none keeps state.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "CTactus.h"

/// One message between a program and its guard, both of which are the same executable. Times are nanoseconds of CLOCK_MONOTONIC.
struct tactus_guard_message {
  /// Of enum tactus_guard_kind.
  uint64_t kind;
  /// Of the heartbeat, counted from 1; in an answer, of the heartbeat that is answered.
  uint64_t number;
  /// When the heartbeat was due.
  int64_t due;
  /// When the heartbeat was sent.
  int64_t sent;
  /// The loops that are watched: bit k stands for the k-th.
  uint64_t watched;
  /// The loops that have advanced, or need not have, since the heartbeat before.
  uint64_t advanced;
  /// In an answer: how often the guard has begun to write the safe state since it was started.
  uint64_t written;
};

enum tactus_guard_kind {
  /// From the guard, once, when its devices are open. Text may follow: what could not be opened, a line each.
  TACTUS_GUARD_READY = 1,
  TACTUS_GUARD_HEARTBEAT,
  TACTUS_GUARD_ANSWER,
  /// To the guard: write the safe state now.
  TACTUS_GUARD_ASK,
  /// To the guard: end without a write.
  TACTUS_GUARD_DISMISS,
};

/// A guard's own number of its socket.
enum { TACTUS_GUARD_DESCRIPTOR = 3 };

/// A connected pair of close-on-exec sockets that keep messages apart, never with the number of a standard stream: what this process prints
/// must not go to its guard.
int tactus_guard_socket_pair(int pair[2]);

/// Gives `socket` the number of `old`, which is closed.
void tactus_guard_take_place(int old, int socket);

/// Sends one message without blocking and without SIGPIPE. Returns 0.
TACTUS_REALTIME int tactus_guard_send(int socket, const struct tactus_guard_message *message);

/// Takes one message without blocking. Returns 1, 0 at the end of the connection, −EAGAIN if none waits, or −EPROTO for one of another
/// size.
TACTUS_REALTIME int tactus_guard_receive(int socket, struct tactus_guard_message *message);

/// Sends the ready message with the time-out of the hardware watchdog that the guard feeds, in seconds (0: none), and a text behind it, of at
/// most 8,000 bytes. Returns 0.
int tactus_guard_send_ready(int socket, uint64_t watchdog_s, const char *text, size_t length);

/// Takes the ready message, waiting for it for at most `timeout_ms`; its text goes to `text` and ends with a zero, the watchdog's
/// time-out to `watchdog_s`, which may be NULL. Returns 1, 0 if anything else came, or nothing.
int tactus_guard_await_ready(int socket, int timeout_ms, uint64_t *watchdog_s, char *text, size_t size);

/// Starts `/proc/self/exe` in a session of its own, signals unblocked and at their defaults, standard input from /dev/null, `descriptor` as
/// its TACTUS_GUARD_DESCRIPTOR, the 0…20 `inherited` ones from 4 on, and no other but 1 and 2. `environment` may be NULL: this process's own. Returns
/// the process id.
pid_t tactus_guard_spawn_self(
    char *const arguments[], char *const environment[], int descriptor, const int inherited[], int count);

/// Starts the program at `arguments[0]` at normal priority in a session of its own, signals unblocked and at their defaults, with the
/// standard streams of this process and no other descriptor. Returns the process id.
pid_t tactus_guard_spawn_program(char *const arguments[]);

/// Makes anonymous memory of `size` bytes, all zero, of a size that nobody can change. Returns a close-on-exec descriptor above the standard
/// streams'.
int tactus_guard_page_create(size_t size);

/// Maps such memory; NULL if it cannot be, or is of another size.
void *tactus_guard_page_map(int file, size_t size);

void tactus_guard_page_unmap(void *page, size_t size);

/// Ignores the signals that a terminal, a service manager or a closed pipe would send, so that only SIGKILL ends the process.
void tactus_guard_ignore_signals(void);

/// What a hardware watchdog said when it was opened.
struct tactus_watchdog {
  /// The time-out in effect, in seconds, whatever was asked for.
  int timeout_s;
  /// Whether it stops when it is told to: its driver knows the magic close, and it has no nowayout.
  int can_be_disarmed;
};

/// Whether the path is a watchdog, without opening it, which would start it. Returns 1, or 0 for anything else.
int tactus_watchdog_is(const char *path);

/// Whether the kernel keeps the watchdog at this path going once it is started, whatever it is told (nowayout). Returns 1; 0 if not, or if it is
/// not known.
int tactus_watchdog_is_unstoppable(const char *path);

/// Opens a watchdog, which starts it, and asks for a time-out. Returns its descriptor; −ENOTTY for a path that is no watchdog, −EBUSY while
/// somebody else has it.
int tactus_watchdog_open(const char *path, int timeout_s, struct tactus_watchdog *opened);

/// Starts its time-out anew. Returns 0.
int tactus_watchdog_feed(int descriptor);

/// Stops it, by the magic close, and closes it. Returns 0 when the driver was told.
int tactus_watchdog_disarm(int descriptor);
