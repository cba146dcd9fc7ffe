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

/// What a confined process may still do. Zero: read what it is loaded from, and use the descriptors that it has.
enum process_permission {
  /// IPv4 and IPv6 sockets. Local sockets are always allowed.
  PROCESS_NETWORK = 1,
  /// To start programs, which are then confined like itself.
  PROCESS_PROGRAMS = 2,
  /// To stay root where it is root, without any capability: it then opens what root owns.
  PROCESS_ROOT = 4,
  /// To lock its memory after it is confined.
  PROCESS_LOCKED_MEMORY = 8,
  /// To become another program (execve), without any further process.
  PROCESS_ONE_PROGRAM = 16,
  /// To start programs that change their account and confine themselves, as a spawner does.
  PROCESS_ACCOUNTS = 32,
  /// To run real-time threads, to change owners of its own files, to send signals to none but its own threads: what a daemon does itself.
  PROCESS_DAEMON = 64,
};

/// What a child needs. Lists end with NULL and may be NULL; what does not exist is left out.
struct process_needs {
  /// Of enum process_permission.
  int permissions;
  /// Descriptors that it may have open at once.
  unsigned descriptors;
  /// The accounts to become, the first that exists, where the process is root; nobody is the last of every list.
  const char *const *accounts;
  /// Groups to be in as well, where the process is root.
  const char *const *groups;
  /// Files, and folders with everything below them, to read; patterns of glob(7). The system's programs, libraries and data (not the
  /// whole of /etc) are always readable, and so is the folder of the program.
  const char *const *readable;
  /// Devices to read and write, and folders with the devices below them; patterns of glob(7).
  const char *const *devices;
  /// A folder whose files may be made, changed and removed. It is made if it is missing, and given to the account; NULL: none.
  const char *folder;
  /// Files and folders, with everything below them, that may be made, changed and removed; patterns of glob(7).
  const char *const *writable;
  /// The capabilities to keep of those that it has: bit k stands for the one with number k.
  uint64_t capabilities;
};

/// Confines the calling process and all that it starts, for good: an unprivileged account, no capability, no privilege to be had by
/// starting a program, no core dump, the files and system calls that it needs and no others.
///
/// To be called by the only thread of a process. What the kernel lacks is left out.
///
/// @return what was left out and why, for a log; NULL if nothing was.
const char *process_confine(const struct process_needs *needs);

/// Confines the spawner: everything to read, devices, the cache folders of the video process and `writable` to write, and of the capabilities
/// those that its children need before they confine themselves.
///
/// @return what was left out and why; NULL if nothing was.
const char *process_confine_spawner(const char *const *writable);

/// The version of the kernel's Landlock; −errno where it has none.
int process_landlock_version(void);

/// The names of the devices that match the `patterns`, with inode and device number, as one number that changes when one of them comes or
/// goes: a confined process sees only devices that were there when it was confined.
unsigned long process_devices(const char *const *patterns);

/// Whether the process is root.
int process_is_root(void);

/// Makes a root process another account's for good: its user, its group, and all the groups that it is in. Of root's capabilities those are
/// left that a daemon needs until it confines itself: to lift its limits and to give up the rest, ports below 1024, real time, locked memory.
/// A program that is started has none of them.
///
/// To be called by the only thread of a process, before it has opened anything. Returns 0; −ENOENT for an unknown account, −errno: the
/// process may be root in part then, and should end.
int process_become(const char *name);

/// Copies the entries of this process's environment that a child may know: language, folders, libraries, and the settings of libraries
/// that we use. No secret is among them. Free the list, not its entries.
char **process_child_environment(void);
/// Begins what posix_spawn gets for a child: a session of its own, no signal blocked, every signal as it is by default. Whoever calls it destroys both.
void process_begin_spawn(posix_spawn_file_actions_t *actions, posix_spawnattr_t *attributes);

/// Takes `name` out of this process's environment, and out of /proc/PID/environ, where other processes of the same user read it.
void process_forget_environment(const char *name);

/// How readily the kernel ends this process when memory runs out, 0…1000. Works in a confined process if it was called before.
void process_offer_to_out_of_memory(int score);

// The spawner: a small process that does for the daemon what a confined daemon cannot do: start the programs and open the devices of a table
// that is sealed before the daemon hears a stranger. A second one with the same table stands by until the first is gone.

/// Where a program's standard streams go. Standard input is /dev/null.
enum process_streams {
  /// Output and error are the daemon's.
  PROCESS_STREAMS_SHARED = 0,
  /// Error is the first descriptor that is handed over; output is /dev/null.
  PROCESS_STREAMS_ERROR_FIRST,
  /// All are /dev/null.
  PROCESS_STREAMS_NONE,
};

/// How long a reply is waited for. A spawner that takes longer is given up.
enum { PROCESS_SPAWNER_PATIENCE_MS = 5000 };

/// Starts the spawner of this process, and another that stands by for it: `/proc/self/exe` as `name spawner FOLDER…`, which calls `process_spawner_main`. To be called once, by
/// the only thread, which has to live as long as the process: the kernel ties children to it. `folders`: in which programs of the table may
/// write; ends with NULL.
///
/// @return its process id, or −errno.
int process_spawner_start(const char *name, const char *const *folders);

/// The spawner's main. `folders`: those of its command line. Returns its exit status when the daemon is gone.
int process_spawner_main(int count, char **folders);

/// Whether this process has started a spawner, dead or alive.
int process_has_spawner(void);

/// Returns how many of the two spawners have ended, or were given up because they did not answer. 1: the other has taken over, and none stands
/// by for it. 2: what they do cannot be done any more.
int process_lost_spawners(void);

/// Takes a program into the table, so that it can be started after it is sealed. `count`: the descriptors that it will get. Does nothing
/// without a spawner. Returns 0 or −errno.
int process_declare(const char *path, char *const arguments[], enum process_streams streams, int count);

/// Has the spawner start a program as a child of this process: in a session of its own, signals unblocked and at their defaults, with
/// `process_child_environment`, the descriptors from 3 on, and no other.
///
/// @return the process id; −EPERM for a program that is not in the sealed table, −EBUSY while its last process lives, −EPIPE without a
/// spawner, −errno.
pid_t process_start(
    const char *path, char *const arguments[], enum process_streams streams, const int *descriptors, int count);

/// Sends SIGTERM or SIGKILL to a child: by the spawner if that has started it, else by ourselves. Returns 0 or −errno.
int process_signal(pid_t process, int signal);

/// Has the spawner open a device, which is taken into the table while that is open. Returns a descriptor, −EPERM for one that is not in the
/// sealed table, −EPIPE without a spawner, −errno.
int process_open_device(const char *path, int flags);

/// Ends the definitions. Returns 0 or −errno.
int process_seal_spawner(void);

#ifdef __cplusplus
}
#endif
