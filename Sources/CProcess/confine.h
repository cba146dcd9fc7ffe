// The parts of `process_confine`. Each returns 0 or −errno.
#pragma once
#include "CProcess.h"

#include <sys/types.h>

/// Builds a Landlock ruleset, which does not restrict any process yet. Returns its descriptor, or −errno: −ENOSYS or −EOPNOTSUPP if
/// there is no Landlock.
int files_ruleset(const struct process_needs *needs);
/// Restricts the calling thread to the ruleset.
int files_restrict(int ruleset);
/// Refuses every system call except those that a child of the daemon makes.
int calls_restrict(int permissions);
