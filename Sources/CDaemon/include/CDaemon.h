// What the kernel and libc offer a service and Swift's Glibc module does not show. Every function returns −errno on
// failure; none keeps state.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// Blocks SIGTERM, SIGINT, SIGHUP, SIGCHLD and SIGPIPE in the calling thread and in all threads it starts later.
/// Returns a non-blocking signalfd that reads the first four of them.
int daemon_signal_descriptor(void);

/// Takes one signal off the descriptor: its number, 0 when none waits.
int daemon_next_signal(int descriptor);

/// A connected pair of close-on-exec stream sockets.
int daemon_socket_pair(int pair[2]);
/// Sends without blocking and without SIGPIPE. Returns the number of bytes sent.
ssize_t daemon_send(int socket, const void *bytes, size_t count);

/// As `daemon_send`, with an open descriptor for the process at the other end.
ssize_t daemon_send_with(int socket, const void *bytes, size_t count, int descriptor);
/// Receives what `daemon_send` and `daemon_send_with` sent: the number of bytes, 0 at the end, −errno. `descriptor`: the one that came with
/// them, close-on-exec; −1 if none did.
ssize_t daemon_receive_with(int socket, void *bytes, size_t count, int flags, int *descriptor);

/// Starts the program at `path` at normal priority in a session of its own, signals unblocked and at their defaults, standard
/// input and output from and to /dev/null, `error` as its standard error, `descriptor` as its descriptor 3, and no other; its
/// environment is `process_child_environment`. Does not copy the caller's memory: a real-time thread of the caller feels nothing of it. Returns the process id.
pid_t daemon_spawn(const char *path, char *const arguments[], int descriptor, int error);
/// Says what `daemon_spawn` will start: to be called before a confined daemon's loops start. Returns 0 or −errno.
int daemon_declare(const char *path, char *const arguments[]);
/// Sends SIGTERM or SIGKILL to a process that `daemon_spawn` has started. Returns 0 or −errno.
int daemon_send_signal(pid_t process, int signal);
/// Has the kernel kill the calling process when the thread that started it ends.
void daemon_die_with_parent(void);
/// The same with SIGTERM, for a program that closes its files.
void daemon_terminate_with_parent(void);

/// One datagram to a service manager's notify socket; a leading '@' means the abstract namespace. 0 or −errno.
int daemon_notify(const char *socket_path, const char *message);

/// Whether `capability` (its number in linux/capability.h) is in the effective set.
int daemon_has_capability(int capability);
/// The functionality bits (I2C_FUNC_*) of an open i2c-dev descriptor; 0 when it is not one.
uint64_t daemon_i2c_functions(int descriptor);

/// The kernel's name, nodename, release, version and machine are in uname(2); this is its `version` text, truncated.
void daemon_kernel(char *release, size_t release_size, char *version, size_t version_size);

/// Takes the program's and its libraries' code and constants out of the process's memory. What is used again is mapped again from the page cache
/// when it is touched. Has no effect on memory that is locked.
void daemon_release_code(void);
