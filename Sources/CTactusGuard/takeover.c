// A program that is started as its own guard becomes one before its main begins.
#define _GNU_SOURCE
#include "CTactusGuard.h"

#include <linux/capability.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

// In TactusGuard: returns the exit status.
extern int32_t tactus_guard_main(int32_t count, char **arguments) __attribute__((weak));

// Whoever may start a set-user-ID program chooses its arguments, and would choose what its guard writes: that guard is the caller's.
static int give_up_privileges(void) {
  if (!getauxval(AT_SECURE)) return 1;
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {0};
  return setresgid(getgid(), getgid(), getgid()) == 0 && setresuid(getuid(), getuid(), getuid()) == 0 &&
         syscall(SYS_capset, &header, none) == 0;
}

__attribute__((constructor)) static void take_over(int count, char **arguments) {
  if (count < 2 || strcmp(arguments[1], "--tactus-guard") != 0 || !tactus_guard_main) return;
  // Not exit: what the program does at its end is not the guard's to do.
  _exit(give_up_privileges() ? tactus_guard_main(count, arguments) : 1);
}
