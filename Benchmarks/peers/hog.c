// hog SECONDS: keeps one processor busy at normal priority; dies with its parent and after SECONDS in any case.
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(int argc, char **argv) {
  if (argc != 2) return 64;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() == 1) return 1;
  alarm((unsigned)atoi(argv[1]));
  for (volatile unsigned long count = 0;; count++) {}
}
