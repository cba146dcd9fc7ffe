// leg_prober PORT FD COUNT INTERVAL_US OUT FIFO CPU: how long from a leg's command sent to the last I2C byte that it causes.
//
// Disarms and arms the leg on 127.0.0.1:PORT, then sends it pulses, another one every time. The bus is the other end of FD, a
// datagram socket pair: each datagram is one transaction, its register and its bytes, stamped by the kernel when it is written.
// The update is complete when channel 0's OFF registers carry the pulse. The next command goes out INTERVAL_US ± half later. One
// not acted on within a tenth of a second is lost. Prints the counts of commands, transactions and bytes (the address byte
// counted); OUT gets the latencies.
#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common.h"

static int bus;
static int sock;
static long transactions;
static long bytes;

static int64_t real_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

// One transaction: the kernel's stamp of it, 0 when it does not complete the pulse.
static int64_t transaction(int pulse) {
  unsigned char frame[64];
  union {
    char bytes[CMSG_SPACE(sizeof(struct timespec))];
    struct cmsghdr header;
  } control;
  struct iovec piece = {.iov_base = frame, .iov_len = sizeof frame};
  struct msghdr message = {
      .msg_iov = &piece, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
  ssize_t length = recvmsg(bus, &message, 0);
  if (length <= 0) die("bus");
  transactions++;
  bytes += length + 1;
  if (length != 5 || frame[0] != 0x06 || frame[4] & 0x10) return 0;
  // Drivers differ by what they take the period for: 20 ms, or what the prescaler makes of it.
  int off = frame[3] | frame[4] << 8, expected = pulse * 4096 / 20000;
  if (abs(off - expected) > 3) return 0;
  struct cmsghdr *header = CMSG_FIRSTHDR(&message);
  if (header == NULL || header->cmsg_type != SCM_TIMESTAMPNS) die("no stamp on the transaction");
  struct timespec stamp;
  memcpy(&stamp, CMSG_DATA(header), sizeof stamp);
  return (int64_t)stamp.tv_sec * 1000000000 + stamp.tv_nsec;
}

static int64_t await(int pulse, int64_t deadline) {
  for (;;) {
    int64_t remaining = deadline - monotonic_now();
    if (remaining <= 0) return 0;
    struct timespec wait = {.tv_sec = remaining / 1000000000, .tv_nsec = remaining % 1000000000};
    struct pollfd item = {.fd = bus, .events = POLLIN};
    if (ppoll(&item, 1, &wait, NULL) <= 0) return 0;
    int64_t stamp = transaction(pulse);
    if (stamp > 0) return stamp;
  }
}

// Sends a pulse; when it went out, by CLOCK_REALTIME, as the kernel stamps the transaction.
static int64_t command(int pulse) {
  unsigned char frame[6] = {1, 3, 2, 0, (unsigned char)pulse, (unsigned char)(pulse >> 8)};
  int64_t sent = real_now();
  return send(sock, frame, sizeof frame, 0) < 0 ? 0 : sent;
}

int main(int argc, char **argv) {
  if (argc != 8) return 64;
  bus = atoi(argv[2]);
  int count = atoi(argv[3]), on = 1;
  int64_t interval = atoll(argv[4]) * 1000;
  if (setsockopt(bus, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on) != 0) die("SO_TIMESTAMPNS");
  sock = socket(AF_INET, SOCK_DGRAM, 0);
  struct sockaddr_in address = {
      .sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(argv[1])), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  if (connect(sock, (struct sockaddr *)&address, sizeof address) != 0) die("connect");
  int64_t *samples = calloc((size_t)count, sizeof *samples);
  pin_to(atoi(argv[7]));
  run_at_fifo(atoi(argv[6]));

  // The leg is up when it acts for the first time.
  int64_t limit = monotonic_now() + 10000000000;
  do {
    if (monotonic_now() > limit) {
      fprintf(stderr, "leg_prober: the leg did not act within 10 s\n");
      return 1;
    }
    send(sock, "\1\2\0\0", 4, 0);
    send(sock, "\1\1\0\0", 4, 0);
    sleep_until(monotonic_now() + 2000000);
    command(1000);
  } while (await(1000, monotonic_now() + 50000000) == 0);

  unsigned seed = 1;
  int acted = 0;
  transactions = bytes = 0;
  int64_t next = monotonic_now() + 20000000;
  for (int index = 0; index < count; index++) {
    sleep_until(next);
    int pulse = 600 + index % 45 * 40;
    int64_t sent = command(pulse);
    int64_t stamp = await(pulse, monotonic_now() + 100000000);
    if (sent != 0 && stamp != 0) samples[acted++] = stamp - sent;
    next = monotonic_now() + interval / 2 + rand_r(&seed) % interval;
  }
  write_samples(argv[5], samples, (size_t)acted);
  printf("{\"sent\": %d, \"acted\": %d, \"transactions\": %ld, \"bytes\": %ld}\n", count, acted, transactions, bytes);
}
