// The parts of `process_confine`. Each returns 0 or −errno.
#pragma once
#include "CProcess.h"

#include <sys/types.h>

/// Builds a ruleset of Landlock, which restricts nobody yet. Its descriptor, or −errno: −ENOSYS or −EOPNOTSUPP where there is none.
int files_ruleset(const struct process_needs *needs);
/// Restricts the calling thread to the ruleset.
int files_restrict(int ruleset);
/// Refuses every system call but those that a child of ours makes.
int calls_restrict(int permissions);
