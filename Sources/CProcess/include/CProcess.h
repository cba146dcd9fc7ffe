// What every program of ours does to its own process: standard streams that are open before anything else runs, the environment that
// children get, and the confinement of a child. Linked into programs only, never into a library that others embed.
#pragma once
#include <spawn.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The permissions of a confined process. With none of them it may read the files that it is loaded from and use its open descriptors.
enum process_permission {
  /// Permission to use IPv4 and IPv6 sockets. Local sockets are always permitted.
  PROCESS_NETWORK = 1,
  /// Permission to start programs, which are then confined like the process itself.
  PROCESS_PROGRAMS = 2,
  /// Permission to stay root if it is root, without any capability; it can then open the files of root.
  PROCESS_ROOT = 4,
  /// Permission to lock its memory after it is confined.
  PROCESS_LOCKED_MEMORY = 8,
  /// Permission to become another program (execve), without any further process.
  PROCESS_ONE_PROGRAM = 16,
  /// Permission to start programs that change their account and confine themselves, as a spawner does.
  PROCESS_ACCOUNTS = 32,
  /// Permission for the work of a daemon itself: real-time threads, changing the owners of its files, and signals to its own threads only.
  PROCESS_DAEMON = 64,
};

/// The needs of a child. Lists end with NULL and may be NULL; entries that do not exist are omitted.
struct process_needs {
  /// A mask of enum process_permission.
  int permissions;
  /// The greatest number of open descriptors.
  unsigned descriptors;
  /// The greatest amount of private memory that it may write to in bytes (`RLIMIT_DATA`, what VmData of /proc/PID/status counts: heap,
  /// stacks, private mappings), of which it never gets more than half of the machine's, or 256 MiB where that is more; 0 for no limit.
  /// Memory is refused beyond it, at which most programs end. Address space (`RLIMIT_AS`) would count what drivers only map, and a control
  /// group of its own needs a manager that delegates one. A program that it starts has the same limit until it says its own.
  uint64_t memory;
  /// The stack of a thread in bytes, whose whole length counts as private memory, or 0 for what the system gives: 8 MiB as a rule.
  size_t stack;
  /// The accounts to which the process changes if it is root: the first one that exists. The account nobody is the last of every list.
  const char *const *accounts;
  /// Supplementary groups of the process if it is root.
  const char *const *groups;
  /// Patterns of glob(7) of files, and folders with everything below them, that may be read. The system's programs, libraries and
  /// data (not the whole of /etc) and the folder of the program are always readable.
  const char *const *readable;
  /// Patterns of glob(7) of devices, and folders with the devices below them, that may be read and written.
  const char *const *devices;
  /// A folder whose files may be created, changed and removed, or NULL for none. The folder is created if it is missing, and given to the account.
  const char *folder;
  /// Patterns of glob(7) of files and folders, with everything below them, that may be created, changed and removed.
  const char *const *writable;
  /// The capabilities that the process keeps if it has them, where bit k stands for capability number k.
  uint64_t capabilities;
};

/// Confines the calling process and all programs that it starts, permanently: an unprivileged account, no capability, no privilege
/// by starting a program, no core dump, and only the files and system calls that it needs.
///
/// To be called by the only thread of a process. Restrictions that the kernel does not support are omitted.
///
/// @return the omitted restrictions and the reasons, for a log, or NULL if none were omitted.
const char *process_confine(const struct process_needs *needs);

/// Confines the spawner: it may read everything, write devices, the cache folders of the video process and `writable`, and keeps
/// the capabilities that its children need before they confine themselves.
///
/// @return the omitted restrictions and the reasons, or NULL if none were omitted.
const char *process_confine_spawner(const char *const *writable);

/// Returns the version of the kernel's Landlock, or −errno if it has none.
int process_landlock_version(void);

/// Returns one number for the names, inodes and device numbers of the devices that match the `patterns`. It changes when such a
/// device appears or disappears. A confined process sees only devices that existed when it was confined.
unsigned long process_devices(const char *const *patterns);

/// Returns whether the process is root.
int process_is_root(void);

/// Changes a root process to another account permanently: its user, its group and all its supplementary groups. It keeps those
/// capabilities of root that a daemon needs until it confines itself: for raising its limits, giving up the rest, ports below 1024,
/// real time and locked memory. A program that it starts has none of them.
///
/// To be called by the only thread of a process, before it has opened anything. Returns 0, −ENOENT for an unknown account, or
/// −errno, after which the process may still be root in part and should end.
int process_become(const char *name);

/// Copies the entries of this process's environment that a child may know: language, folders, libraries, and settings of libraries.
/// No secret is among them. Free the list but not its entries.
char **process_child_environment(void);
/// Prepares the arguments of posix_spawn for a child: a separate session, no blocked signal, and every signal at its default. The
/// caller destroys both.
void process_begin_spawn(posix_spawn_file_actions_t *actions, posix_spawnattr_t *attributes);

/// Removes `name` from this process's environment and from /proc/PID/environ, where other processes of the same user could read it.
void process_forget_environment(const char *name);

/// Sets how readily the kernel ends this process when memory runs out, 0…1000. Works in a confined process if it was called before the confinement.
void process_offer_to_out_of_memory(int score);

// The spawner: a small process that does for the daemon what a confined daemon cannot do: start the programs and open the devices of a table
// that is sealed before the daemon hears a stranger. A second one with the same table stands by until the first is gone.

/// The destinations of a program's standard streams. Standard input is always /dev/null.
enum process_streams {
  /// Output and error are those of the daemon.
  PROCESS_STREAMS_SHARED = 0,
  /// Error is the first descriptor that is passed; output is /dev/null.
  PROCESS_STREAMS_ERROR_FIRST,
  /// All standard streams are /dev/null.
  PROCESS_STREAMS_NONE,
};

/// The timeout of a reply, after which a spawner is given up.
enum { PROCESS_SPAWNER_PATIENCE_MS = 5000 };

/// Starts the spawner of this process, and another that stands by for it: `/proc/self/exe` as `name spawner FOLDER…`, which calls
/// `process_spawner_main`. The function must be called once, by the only thread, which has to live as long as the process because
/// the kernel ties children to it. `folders` are the folders in which programs of the table may write; the list ends with NULL.
///
/// @return the process id of the spawner, or −errno.
int process_spawner_start(const char *name, const char *const *folders);

/// Runs a spawner. `folders` are those of its command line. Returns its exit status after the daemon has ended.
int process_spawner_main(int count, char **folders);

/// Returns whether this process has started a spawner, even if it has ended.
int process_has_spawner(void);

/// Returns how many of the two spawners have ended, or were given up because they did not answer. With 1 the other has taken over
/// and has no standby; with 2 the spawner's work cannot be done any more.
int process_lost_spawners(void);

/// Adds a program to the table, so that it can be started after the table is sealed. `count` is the number of descriptors that it
/// will get. Does nothing without a spawner. Returns 0 or −errno.
int process_declare(const char *path, char *const arguments[], enum process_streams streams, int count);

/// Starts a program through the spawner as a child of this process: in a separate session, with signals unblocked and at their
/// defaults, with `process_child_environment`, the descriptors from 3 on, and no other descriptor.
///
/// @return the process id; −EPERM for a program that is not in the sealed table, −EBUSY while its previous process exists, −EPIPE
/// without a spawner, or another −errno.
pid_t process_start(
    const char *path, char *const arguments[], enum process_streams streams, const int *descriptors, int count);

/// Sends SIGTERM or SIGKILL to a child, through the spawner if that has started it, otherwise directly. Returns 0 or −errno.
int process_signal(pid_t process, int signal);

/// Opens a device through the spawner, which adds it to the table while that is not sealed. Returns a descriptor, −EPERM for a
/// device that is not in the sealed table, −EPIPE without a spawner, or another −errno.
int process_open_device(const char *path, int flags);

/// Seals the table, so that no definition is accepted any more. Returns 0 or −errno.
int process_seal_spawner(void);

#ifdef __cplusplus
}
#endif
