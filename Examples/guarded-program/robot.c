// The same robot in C: cc -O2 -o robot robot.c
#define _GNU_SOURCE
#include "tactus_guard.h"

#include <stdio.h>
#include <unistd.h>

int main(int count, char **arguments) {
  int port = open(count > 1 ? arguments[1] : "/tmp/motors", O_WRONLY | O_NOCTTY);
  if (port < 0) return perror("motors"), 1;
  struct tactus_guard guard = tactus_guard_find();
  printf("driving as process %d, %s\n", getpid(), guard.socket < 0 ? "without a guard" : "guarded");
  fflush(stdout);
  for (;;) {
    int beaten = tactus_guard_beat(&guard);
    if (beaten < 0) return fprintf(stderr, "the guard is gone\n"), 1;
    if (beaten > 0) printf("the guard has stopped the motors meanwhile\n"), fflush(stdout);
    if (write(port, "speed 40 40\n", 12) < 0) return perror("motors"), 1;
    usleep(50000);
  }
}
