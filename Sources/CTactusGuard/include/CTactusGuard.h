// What a guard and the program it watches need of the kernel: a pair of sockets, the messages on it, a process that is the same
// executable started anew. Every function returns −errno on failure; none keeps state.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "CTactus.h"

/// A message between a program and its guard, both of which run the same executable. Times are nanoseconds of CLOCK_MONOTONIC.
struct tactus_guard_message {
  /// The kind of the message, of enum tactus_guard_kind.
  uint64_t kind;
  /// The number of the heartbeat, counted from 1; in an answer, that of the heartbeat that is answered.
  uint64_t number;
  /// The instant at which the heartbeat was due.
  int64_t due;
  /// The instant at which the heartbeat was sent.
  int64_t sent;
  /// The watched loops, where bit k stands for loop k.
  uint64_t watched;
  /// The watched loops that have made progress since the previous heartbeat, or that need not have.
  uint64_t advanced;
  /// In an answer, the number of times that the guard has begun to write the safe state since it was started.
  uint64_t written;
};

enum tactus_guard_kind {
  /// A message from the guard, sent once when its devices are open. A text may follow that lists the devices that could not be opened, one per line.
  TACTUS_GUARD_READY = 1,
  TACTUS_GUARD_HEARTBEAT,
  TACTUS_GUARD_ANSWER,
  /// A request to the guard to write the safe state now.
  TACTUS_GUARD_ASK,
  /// A request to the guard to end without a write.
  TACTUS_GUARD_DISMISS,
  /// A notice to the guard that what it watches starts now, so that the first heartbeat is due within its time-out.
  TACTUS_GUARD_BEGIN,
};

/// The number of the socket's descriptor in a guard.
enum { TACTUS_GUARD_DESCRIPTOR = 3 };

/// Creates a connected pair of close-on-exec sockets that preserve message boundaries. They never have the number of a standard
/// stream, since output of this process must not go to its guard.
int tactus_guard_socket_pair(int pair[2]);

/// Gives `socket` the number of `old`, which is closed.
void tactus_guard_take_place(int old, int socket);

/// Sends one message without blocking and without SIGPIPE. Returns 0.
TACTUS_REALTIME int tactus_guard_send(int socket, const struct tactus_guard_message *message);

/// Receives one message without blocking. Returns 1, 0 at the end of the connection, −EAGAIN if none waits, or −EPROTO for a message of another size.
TACTUS_REALTIME int tactus_guard_receive(int socket, struct tactus_guard_message *message);

/// Sends the ready message with the timeout in seconds of the hardware watchdog that the guard feeds, or 0 for none, followed by a
/// text of at most 8,000 bytes. Returns 0.
int tactus_guard_send_ready(int socket, uint64_t watchdog_s, const char *text, size_t length);

/// Waits for the ready message for at most `timeout_ms`. Its text is written to `text` with a final zero, and the watchdog's
/// timeout to `watchdog_s`, which may be NULL. Returns 1, or 0 if another message or none came.
int tactus_guard_await_ready(int socket, int timeout_ms, uint64_t *watchdog_s, char *text, size_t size);

/// Starts `/proc/self/exe` in a separate session, with signals unblocked and at their defaults, standard input from /dev/null,
/// `descriptor` as its TACTUS_GUARD_DESCRIPTOR, the 0…20 `inherited` descriptors from 4 on, and no other descriptors except 1 and
/// 2. `environment` may be NULL for this process's environment. Returns the process id.
pid_t tactus_guard_spawn_self(
    char *const arguments[], char *const environment[], int descriptor, const int inherited[], int count);

/// Starts the program at `arguments[0]` at normal priority in a separate session, with signals unblocked and at their defaults, the
/// standard streams of this process and no other descriptor. Returns the process id.
pid_t tactus_guard_spawn_program(char *const arguments[]);

/// Opens the process that made the socket pair and is this process's parent. The descriptor is close-on-exec and polls readable when every
/// thread of that process has ended, whoever else holds its end of the socket. Returns −ESRCH if the parent is another process by now.
int tactus_guard_open_maker(int socket);

/// Kills a process that was opened. Returns 0, also if it has ended already.
int tactus_guard_kill_process(int descriptor);

/// Creates anonymous memory of `size` zero bytes, whose size cannot be changed. Returns a close-on-exec descriptor above those of
/// the standard streams.
int tactus_guard_page_create(size_t size);

/// Maps such memory. Returns NULL if it cannot be mapped or has another size.
void *tactus_guard_page_map(int file, size_t size);

void tactus_guard_page_unmap(void *page, size_t size);

/// Ignores the signals that a terminal, a service manager or a closed pipe would send, so that only SIGKILL ends the process.
void tactus_guard_ignore_signals(void);

/// The properties of a hardware watchdog that was opened.
struct tactus_watchdog {
  /// The timeout in effect in seconds, whatever was requested.
  int timeout_s;
  /// Whether the watchdog can be stopped: its driver supports the magic close and does not have nowayout.
  int can_be_disarmed;
};

/// Checks whether the path is a watchdog without opening it, since that would start it. Returns 1, or 0 for anything else.
int tactus_watchdog_is(const char *path);

/// Checks whether the kernel keeps the watchdog at this path running once it is started (nowayout). Returns 1, or 0 if it does not
/// or this is unknown.
int tactus_watchdog_is_unstoppable(const char *path);

/// Opens a watchdog, which starts it, and requests a timeout. Returns its descriptor, −ENOTTY for a path that is no watchdog, or
/// −EBUSY while another process has it open.
int tactus_watchdog_open(const char *path, int timeout_s, struct tactus_watchdog *opened);

/// Feeds the watchdog, which restarts its timeout. Returns 0.
int tactus_watchdog_feed(int descriptor);

/// Stops the watchdog by the magic close, and closes it. Returns 0 if the driver accepted the request.
int tactus_watchdog_disarm(int descriptor);
