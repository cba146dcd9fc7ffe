#include "CTactus.h"

#include <math.h>
#include <time.h>

int64_t tactus_monotonic_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

double tactus_exp(double x) { return exp(x); }
