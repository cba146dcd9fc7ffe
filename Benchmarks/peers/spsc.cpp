// spsc BYTES COUNT ROUNDTRIPS CPU_A CPU_B: boost::lockfree::spsc_queue, capacity 1024, between two pinned threads.
#include <atomic>
#include <boost/lockfree/spsc_queue.hpp>
#include <thread>

#include "common.h"

template <size_t Words> struct Element {
  uint64_t words[Words];
};
template <size_t Words> using Queue = boost::lockfree::spsc_queue<Element<Words>, boost::lockfree::capacity<1024>>;

static int first_cpu, second_cpu;

struct Throughput {
  double element_ns, full, empty;
};

// What any exchange between the two processors costs at least: one word there and back.
static double line_round_trip(int64_t count) {
  alignas(128) static std::atomic<int64_t> word{0};
  std::atomic<bool> ready{false};
  std::thread echo([&] {
    pin_to(second_cpu);
    ready = true;
    for (int64_t index = 0; index < count; index++) {
      while (word.load(std::memory_order_acquire) != 2 * index + 1) {}
      word.store(2 * index + 2, std::memory_order_release);
    }
  });
  while (!ready) {}
  int64_t start = monotonic_now();
  for (int64_t index = 0; index < count; index++) {
    word.store(2 * index + 1, std::memory_order_release);
    while (word.load(std::memory_order_acquire) != 2 * index + 2) {}
  }
  int64_t elapsed = monotonic_now() - start;
  echo.join();
  return (double)elapsed / (double)count;
}

template <size_t Words> static Throughput throughput(int64_t count) {
  static Queue<Words> queue;
  std::atomic<bool> ready{false};
  uint64_t sum = 0;
  int64_t full = 0, empty = 0;
  std::thread consumer([&] {
    pin_to(second_cpu);
    ready = true;
    Element<Words> element;
    for (int64_t index = 0; index < count; index++) {
      while (!queue.pop(element)) empty++;
      sum += element.words[0];
    }
  });
  while (!ready) {}
  int64_t start = monotonic_now();
  Element<Words> element{};
  for (int64_t index = 0; index < count; index++) {
    element.words[0] = (uint64_t)index;
    while (!queue.push(element)) full++;
  }
  consumer.join();
  int64_t elapsed = monotonic_now() - start;
  if (sum != (uint64_t)count * (uint64_t)(count - 1) / 2) exit(1);
  return {(double)elapsed / (double)count, (double)full / (double)count, (double)empty / (double)count};
}

template <size_t Words> static double round_trip(int64_t count) {
  static Queue<Words> there, back;
  std::atomic<bool> ready{false};
  std::thread echo([&] {
    pin_to(second_cpu);
    ready = true;
    Element<Words> element;
    for (int64_t index = 0; index < count; index++) {
      while (!there.pop(element)) {}
      while (!back.push(element)) {}
    }
  });
  while (!ready) {}
  int64_t start = monotonic_now();
  Element<Words> element{};
  for (int64_t index = 0; index < count; index++) {
    element.words[0] = (uint64_t)index;
    while (!there.push(element)) {}
    while (!back.pop(element)) {}
    if (element.words[0] != (uint64_t)index) exit(1);
  }
  int64_t elapsed = monotonic_now() - start;
  echo.join();
  return (double)elapsed / (double)count;
}

template <size_t Words> static void report(int64_t count, int64_t trips) {
  Throughput through = throughput<Words>(count);
  double round = round_trip<Words>(trips);
  printf("{\"element_ns\": %.3f, \"full\": %.3f, \"empty\": %.3f, \"round_trip_ns\": %.3f, \"line_ns\": %.3f}\n",
      through.element_ns, through.full, through.empty, round, line_round_trip(trips));
}

int main(int argc, char **argv) {
  if (argc != 6) return 64;
  first_cpu = atoi(argv[4]);
  second_cpu = atoi(argv[5]);
  pin_to(first_cpu);
  if (atoi(argv[1]) == 8) report<1>(atoll(argv[2]), atoll(argv[3]));
  else if (atoi(argv[1]) == 64) report<8>(atoll(argv[2]), atoll(argv[3]));
  else return 64;
}
