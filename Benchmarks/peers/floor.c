// floor past N | floor sleep N PERIOD_NS [FIFO CPU]
//
// The least a periodic release can cost: clock_nanosleep to an absolute instant and one clock_gettime.
// past:  every instant is over already, so the call returns at once; prints the wall time of one round.
// sleep: real sleeps; prints the thread's processor time of one round.
#include "common.h"

static int64_t processor_time(void) {
  struct timespec used;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return (int64_t)used.tv_sec * 1000000000 + used.tv_nsec;
}

int main(int argc, char **argv) {
  if (argc < 3) return 64;
  int sleeping = strcmp(argv[1], "sleep") == 0;
  int64_t count = atoll(argv[2]);
  int64_t period = sleeping && argc > 3 ? atoll(argv[3]) : 1;
  if (argc > 5) {
    pin_to(atoi(argv[5]));
    run_at_fifo(atoi(argv[4]));
  }
  int64_t next = sleeping ? monotonic_now() + 1000000 : monotonic_now() - 2 * count;
  volatile int64_t sink = 0;
  if (sleeping) sleep_until(next);
  int64_t wall = monotonic_now(), used = processor_time();
  for (int64_t index = 0; index < count; index++) {
    next += period;
    sleep_until(next);
    int64_t now = monotonic_now();
    sink += now - next;
    if (sleeping && now > next + period) next += (now - next) / period * period;
  }
  used = processor_time() - used;
  wall = monotonic_now() - wall;
  printf("{\"wall_ns\": %.3f, \"processor_ns\": %.3f}\n", (double)wall / count, (double)used / count);
}
