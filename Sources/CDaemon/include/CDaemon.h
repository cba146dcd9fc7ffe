// What the kernel and libc offer a service and Swift's Glibc module does not show. Every function returns −errno on
// failure; none keeps state.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// Blocks SIGTERM, SIGINT, SIGHUP, SIGCHLD and SIGPIPE in the calling thread and in all threads it starts later.
/// Returns a non-blocking signalfd that reads the first four of them.
int daemon_signal_descriptor(void);

/// Takes one signal from the descriptor. Returns its number, or 0 if none waits.
int daemon_next_signal(int descriptor);

/// Creates a connected pair of close-on-exec stream sockets.
int daemon_socket_pair(int pair[2]);
/// Sends bytes without blocking and without SIGPIPE. Returns the number of bytes sent.
ssize_t daemon_send(int socket, const void *bytes, size_t count);

/// Sends as `daemon_send` does, together with an open descriptor for the receiving process.
ssize_t daemon_send_with(int socket, const void *bytes, size_t count, int descriptor);
/// Receives data sent by `daemon_send` or `daemon_send_with`. Returns the number of bytes, 0 at the end, or −errno. `descriptor`
/// gets the descriptor that came with the data, close-on-exec, or −1 if none did.
ssize_t daemon_receive_with(int socket, void *bytes, size_t count, int flags, int *descriptor);

/// Starts the program at `path` at normal priority in a separate session, with signals unblocked and at their defaults, standard
/// input and output from and to /dev/null, `error` as its standard error, `descriptor` as its descriptor 3, and no other
/// descriptor. Its environment is `process_child_environment`. The caller's memory is not copied, so a real-time thread of the
/// caller is not disturbed. Returns the process id.
pid_t daemon_spawn(const char *path, char *const arguments[], int descriptor, int error);
/// Declares what `daemon_spawn` will start. The function must be called before a confined daemon's loops start. Returns 0 or −errno.
int daemon_declare(const char *path, char *const arguments[]);
/// Sends SIGTERM or SIGKILL to a process that `daemon_spawn` has started. Returns 0 or −errno.
int daemon_send_signal(pid_t process, int signal);
/// Makes the kernel kill the calling process when the thread that started it ends.
void daemon_die_with_parent(void);
/// Makes the kernel send SIGTERM in the same case, for a program that closes its files.
void daemon_terminate_with_parent(void);

/// Returns at once unless the calling process is process 1, as in a container. There it starts this program once more with these
/// arguments and does not return: it reaps every process that becomes its child because its parent has ended, passes signals on to the
/// daemon, and ends with the daemon's status (128 and its signal's number, if one ended it) when no process is left, or 5 s after the
/// daemon. Without memory for another process it returns, too. To be called while there is one thread.
void daemon_run_below_init(char *const arguments[]);

/// Sends one datagram to a service manager's notify socket, where a leading '@' means the abstract namespace. Returns 0 or −errno.
int daemon_notify(const char *socket_path, const char *message);

/// Returns whether `capability` (its number in linux/capability.h) is in the effective set.
int daemon_has_capability(int capability);
/// Returns the functionality bits (I2C_FUNC_*) of an open i2c-dev descriptor, or 0 if it is not one.
uint64_t daemon_i2c_functions(int descriptor);

/// Writes the kernel's `release` and `version` texts of uname(2), truncated to the sizes.
void daemon_kernel(char *release, size_t release_size, char *version, size_t version_size);

/// Releases the memory of the code and constants of the program and its libraries. Pages that are used again are mapped from the
/// page cache. Has no effect on locked memory.
void daemon_release_code(void);
