// prober PORT FD COUNT INTERVAL_US OUT FIFO CPU: how long from a datagram sent to the motor write it causes.
//
// Sends {"left": l, "right": r, "timestamp": t} to 127.0.0.1:PORT, l and r changing every time. The receiver's motor is
// the other end of FD, a datagram socket pair: the kernel stamps each motor write when it is made, so this program's
// own waking is not part of the figure. The next datagram goes out INTERVAL_US ± half later, so that it meets the
// receiver's own ticks at every phase; with COUNT < 0 exactly every INTERVAL_US, −COUNT times. A command not acted on
// within one second (within nine tenths of its interval, when exact) is lost. Prints the counts; OUT gets the latencies.
#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common.h"

static int motor;
static int sock;

static int64_t real_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int differs(unsigned char seen, int percent) {
  int expected = percent * 255 / 100, difference = seen - expected;
  return difference < 0 || difference > 1;
}

// One motor write: the kernel's stamp of it, 0 when it does not carry left and right, −1 when the motor is gone.
static int64_t motor_write(int left, int right) {
  unsigned char frame[64];
  union {
    char bytes[CMSG_SPACE(sizeof(struct timespec))];
    struct cmsghdr header;
  } control;
  struct iovec piece = {.iov_base = frame, .iov_len = sizeof frame};
  struct msghdr message = {
      .msg_iov = &piece, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
  ssize_t length = recvmsg(motor, &message, 0);
  if (length <= 0) return -1;
  if (length != 4 || frame[0] != 1 || frame[2] != 1 || differs(frame[1], left) || differs(frame[3], right)) return 0;
  struct cmsghdr *header = CMSG_FIRSTHDR(&message);
  if (header == NULL || header->cmsg_type != SCM_TIMESTAMPNS) die("no stamp on the motor write");
  struct timespec stamp;
  memcpy(&stamp, CMSG_DATA(header), sizeof stamp);
  return (int64_t)stamp.tv_sec * 1000000000 + stamp.tv_nsec;
}

// Reads motor writes until one carries left and right: its stamp; 0 when `deadline` comes first.
static int64_t await(int left, int right, int64_t deadline) {
  for (;;) {
    int64_t remaining = deadline - monotonic_now();
    if (remaining <= 0) return 0;
    struct timespec wait = {.tv_sec = remaining / 1000000000, .tv_nsec = remaining % 1000000000};
    struct pollfd item = {.fd = motor, .events = POLLIN};
    if (ppoll(&item, 1, &wait, NULL) <= 0) return 0;
    int64_t stamp = motor_write(left, right);
    if (stamp < 0) die("motor");
    if (stamp > 0) return stamp;
  }
}

// Sends one command; when it went out, by CLOCK_REALTIME, as the kernel stamps the motor write.
static int64_t command(int left, int right) {
  char text[128];
  int64_t now = monotonic_now();
  int length = snprintf(text, sizeof text, "{\"left\": %d, \"right\": %d, \"timestamp\": %lld.%09lld}", left, right,
                        (long long)(now / 1000000000), (long long)(now % 1000000000));
  int64_t sent = real_now();
  return send(sock, text, (size_t)length, 0) < 0 ? 0 : sent;
}

int main(int argc, char **argv) {
  if (argc != 8) return 64;
  motor = atoi(argv[2]);
  int exact = atoi(argv[3]) < 0, count = abs(atoi(argv[3])), on = 1;
  int64_t interval = atoll(argv[4]) * 1000;
  if (setsockopt(motor, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on) != 0) die("SO_TIMESTAMPNS");
  sock = socket(AF_INET, SOCK_DGRAM, 0);
  struct sockaddr_in address = {
      .sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(argv[1])), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  if (connect(sock, (struct sockaddr *)&address, sizeof address) != 0) die("connect");
  int64_t *samples = calloc((size_t)count, sizeof *samples);
  pin_to(atoi(argv[7]));
  run_at_fifo(atoi(argv[6]));

  // The receiver is up when it acts for the first time.
  int64_t limit = monotonic_now() + 10000000000;
  do {
    if (monotonic_now() > limit) {
      fprintf(stderr, "prober: the receiver did not act within 10 s\n");
      return 1;
    }
    command(5, 5);
  } while (await(5, 5, monotonic_now() + 20000000) == 0);

  unsigned seed = 1;
  int acted = 0;
  int64_t next = monotonic_now() + 50000000;
  for (int index = 0; index < count; index++) {
    sleep_until(next);
    int left = 10 + index % 80, right = 10 + index / 80 % 80;
    int64_t sent = command(left, right);
    int64_t stamp = await(left, right, monotonic_now() + (exact ? interval * 9 / 10 : 1000000000));
    if (sent != 0 && stamp != 0) samples[acted++] = stamp - sent;
    next = exact ? next + interval : monotonic_now() + interval / 2 + rand_r(&seed) % interval;
  }
  write_samples(argv[5], samples, (size_t)acted);
  printf("{\"sent\": %d, \"acted\": %d}\n", count, acted);
}
