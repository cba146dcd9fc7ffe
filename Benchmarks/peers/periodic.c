// periodic RATE_HZ COUNT PRIORITY: the least that a periodic thread does, at SCHED_FIFO: clock_nanosleep to an absolute instant
// and one clock_gettime. Prints the lateness of each release in nanoseconds, one line each. A missed period is skipped.
#include "common.h"

int main(int argc, char **argv) {
  if (argc != 4) return 64;
  int64_t period = 1000000000 / atoll(argv[1]);
  size_t count = (size_t)atoll(argv[2]);
  int64_t *samples = calloc(count, sizeof *samples);
  if (samples == NULL) die("calloc");
  memset(samples, 0, count * sizeof *samples);
  run_at_fifo(atoi(argv[3]));
  int64_t next = monotonic_now() + 10000000;
  for (size_t index = 0; index < count; index++) {
    sleep_until(next);
    int64_t now = monotonic_now();
    samples[index] = now - next;
    do next += period;
    while (next < now);
  }
  for (size_t index = 0; index < count; index++) printf("%lld\n", (long long)samples[index]);
}
