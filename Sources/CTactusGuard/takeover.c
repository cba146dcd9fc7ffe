// A program that is started as its own guard becomes one before its main begins.
#define _GNU_SOURCE
#include "CTactusGuard.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
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

// Whether descriptor 3 is an end of a socket pair that this very user made, as tactus_guard_spawn_self leaves it. sudo hands on neither the
// descriptor nor the user, and a connection to somebody's listening socket has a name at its other end.
static int is_started_by_its_program(void) {
  int type = 0;
  struct ucred maker;
  struct sockaddr_un peer;
  socklen_t type_size = sizeof type, maker_size = sizeof maker, peer_size = sizeof peer;
  return getsockopt(TACTUS_GUARD_DESCRIPTOR, SOL_SOCKET, SO_TYPE, &type, &type_size) == 0 && type == SOCK_SEQPACKET &&
         getsockopt(TACTUS_GUARD_DESCRIPTOR, SOL_SOCKET, SO_PEERCRED, &maker, &maker_size) == 0 && maker.uid == geteuid() &&
         getpeername(TACTUS_GUARD_DESCRIPTOR, (struct sockaddr *)&peer, &peer_size) == 0 && peer.sun_family == AF_UNIX &&
         peer_size == sizeof peer.sun_family;
}

// A device must not get the number of a standard stream that was closed: what is printed would go to it.
static void open_standard_streams(void) {
  for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++) {
    if (fcntl(stream, F_GETFD) < 0) open("/dev/null", O_RDWR);
  }
}

__attribute__((constructor)) static void take_over(int count, char **arguments) {
  if (count < 2 || strcmp(arguments[1], "--tactus-guard") != 0 || !tactus_guard_main) return;
  open_standard_streams();
  if (!is_started_by_its_program()) {
    static const char refusal[] =
        "--tactus-guard: only this program itself starts its guard; descriptor 3 is no socket pair that its user made\n";
    ssize_t ignored = write(STDERR_FILENO, refusal, sizeof refusal - 1);
    (void)ignored;
    _exit(64);
  }
  // Not exit: what the program does at its end is not the guard's to do.
  _exit(give_up_privileges() ? tactus_guard_main(count, arguments) : 1);
}
