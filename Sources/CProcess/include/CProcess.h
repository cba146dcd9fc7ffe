// What every program of ours does to its own process: standard streams that are open before anything else runs, the environment that
// children get, and the confinement of a child. Linked into programs only, never into a library that others embed.
#pragma once
#include <stddef.h>

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
};

/// Confines the calling process and all that it starts, for good: an unprivileged account, no capability, no privilege to be had by
/// starting a program, no core dump, the files and system calls that it needs and no others.
///
/// To be called by the only thread of a process. What the kernel lacks is left out.
///
/// @return what was left out and why, for a log; NULL if nothing was.
const char *process_confine(const struct process_needs *needs);

/// The names of the devices that match the `patterns`, with inode and device number, as one number that changes when one of them comes or
/// goes: a confined process sees only devices that were there when it was confined.
unsigned long process_devices(const char *const *patterns);

/// Whether the process is root.
int process_is_root(void);

/// Copies the entries of this process's environment that a child may know: language, folders, libraries, and the settings of libraries
/// that we use. No secret is among them. Free the list, not its entries.
char **process_child_environment(void);

/// Takes `name` out of this process's environment, and out of /proc/PID/environ, where other processes of the same user read it.
void process_forget_environment(const char *name);

/// How readily the kernel ends this process when memory runs out, 0…1000. Works in a confined process if it was called before.
void process_offer_to_out_of_memory(int score);

#ifdef __cplusplus
}
#endif
