// latest seqlock|triple BYTES COUNT CPU_A CPU_B: the latest value behind a sequence lock of std::atomic words, or in a
// triple buffer.
//
// alone: one thread writes, then reads, nobody else about. shared: a writer on CPU_A and a reader on CPU_B; the write is
// timed with both at full speed, the read with a write every microsecond (a seqlock's reader starves under more).
#include <atomic>
#include <thread>

#include "common.h"

template <size_t Words> struct Value {
  uint64_t words[Words];
};

template <size_t Words> struct alignas(64) Sequenced {
  std::atomic<uint64_t> sequence{0};
  std::atomic<uint64_t> words[Words]{};

  void write(const Value<Words> &value) {
    uint64_t before = sequence.load(std::memory_order_relaxed);
    sequence.store(before + 1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
    for (size_t word = 0; word < Words; word++) words[word].store(value.words[word], std::memory_order_relaxed);
    sequence.store(before + 2, std::memory_order_release);
  }

  Value<Words> read() const {
    Value<Words> value;
    for (;;) {
      uint64_t before = sequence.load(std::memory_order_acquire);
      for (size_t word = 0; word < Words; word++) value.words[word] = words[word].load(std::memory_order_relaxed);
      std::atomic_thread_fence(std::memory_order_acquire);
      if ((before & 1) == 0 && sequence.load(std::memory_order_relaxed) == before) return value;
    }
  }
};

// Three slots, one each for writer, reader and the exchange between them. Wait-free at both ends, for one reader only.
template <size_t Words> struct Tripled {
  struct alignas(64) Slot {
    Value<Words> value{};
  };
  Slot slots[3];
  alignas(64) std::atomic<uint32_t> middle{1};
  alignas(64) uint32_t back = 0;
  alignas(64) uint32_t front = 2;
  static constexpr uint32_t fresh = 4;

  void write(const Value<Words> &value) {
    slots[back].value = value;
    back = middle.exchange(back | fresh, std::memory_order_acq_rel) & 3;
  }

  Value<Words> read() {
    if (middle.load(std::memory_order_relaxed) & fresh) front = middle.exchange(front, std::memory_order_acq_rel) & 3;
    return slots[front].value;
  }
};

// Keeps the compiler from dropping or merging the reads.
static inline void use(uint64_t value) { asm volatile("" : : "r"(value) : "memory"); }

struct Shared {
  double write_ns, read_ns;
};

template <size_t Words, class Latest>
static Shared shared(Latest &latest, int64_t count, int64_t pause, int second_cpu) {
  std::atomic<bool> ready{false}, done{false};
  int64_t reads = 0, reading = 0;
  std::thread reader([&] {
    pin_to(second_cpu);
    ready = true;
    int64_t begin = monotonic_now();
    while (!done.load(std::memory_order_relaxed)) {
      Value<Words> seen = latest.read();
      if (seen.words[0] != seen.words[Words - 1]) exit(1);
      reads++;
    }
    reading = monotonic_now() - begin;
  });
  while (!ready) {}
  Value<Words> value{};
  int64_t start = monotonic_now(), next = start;
  for (int64_t index = 0; index < count; index++) {
    for (size_t word = 0; word < Words; word++) value.words[word] = (uint64_t)index;
    latest.write(value);
    if (pause > 0) {
      next += pause;
      while (monotonic_now() < next) {}
    }
  }
  double write = (double)(monotonic_now() - start) / (double)count;
  done = true;
  reader.join();
  return {write, (double)reading / (double)reads};
}

template <size_t Words, class Latest> static void report(int64_t count, int second_cpu) {
  static Latest latest;
  Value<Words> value{};
  int64_t start = monotonic_now();
  for (int64_t index = 0; index < count; index++) {
    for (size_t word = 0; word < Words; word++) value.words[word] = (uint64_t)index;
    latest.write(value);
    asm volatile("" : : : "memory");
  }
  double write_alone = (double)(monotonic_now() - start) / (double)count;
  start = monotonic_now();
  for (int64_t index = 0; index < count; index++) use(latest.read().words[Words - 1]);
  double read_alone = (double)(monotonic_now() - start) / (double)count;

  Shared write = shared<Words, Latest>(latest, count, 0, second_cpu),
         read = shared<Words, Latest>(latest, count / 50, 1000, second_cpu);
  printf("{\"write_alone_ns\": %.3f, \"read_alone_ns\": %.3f, \"write_shared_ns\": %.3f, \"read_shared_ns\": %.3f}\n",
         write_alone, read_alone, write.write_ns, read.read_ns);
}

int main(int argc, char **argv) {
  if (argc != 6) return 64;
  int first_cpu = atoi(argv[4]), second_cpu = atoi(argv[5]);
  int64_t count = atoll(argv[3]);
  bool is_small = atoi(argv[2]) == 8, is_triple = argv[1][0] == 't';
  pin_to(first_cpu);
  if (is_small && is_triple) report<1, Tripled<1>>(count, second_cpu);
  else if (is_small) report<1, Sequenced<1>>(count, second_cpu);
  else if (is_triple) report<8, Tripled<8>>(count, second_cpu);
  else report<8, Sequenced<8>>(count, second_cpu);
}
