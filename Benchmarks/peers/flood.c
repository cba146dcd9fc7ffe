// flood PORT PER_SECOND SECONDS CPU: datagrams that are no valid command, evenly spaced in bursts of ten.
//
// Random bytes, truncated and nested JSON, wrong types, NaN, numbers without end, an oversized datagram now and then;
// the same sequence every time. Prints how many the kernel took.
#include <arpa/inet.h>
#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common.h"

enum { burst = 10, shapes = 64, longest = 3000 };
static char bytes[shapes][longest];
static size_t lengths[shapes];

static void make_shapes(void) {
  static const char *texts[] = {
      "{\"left\": 50, \"right\"",          "{\"left\": \"50\", \"right\": 50}", "{\"left\": NaN, \"right\": 10}",
      "[50, 50, 1]",                       "{\"left\": {\"left\": 1}, \"right\": 2", "50,50,7",
      "{\"left\": 1e999, \"right\": 0,}", "50;50;0",                         "{\"command\": \"fly\"}",
      "",                                  "{\"left\": --5}",               "left=50&right=50",
  };
  unsigned seed = 7;
  for (int shape = 0; shape < shapes; shape++) {
    if (shape % 4 == 0) {
      const char *text = texts[shape / 4 % (sizeof texts / sizeof *texts)];
      lengths[shape] = strlen(text);
      memcpy(bytes[shape], text, lengths[shape]);
    } else {
      // Never a digit, so never a CSV command, and never an opening brace first.
      lengths[shape] = shape == 63 ? longest : (size_t)(1 + rand_r(&seed) % 200);
      for (size_t index = 0; index < lengths[shape]; index++) bytes[shape][index] = (char)(0x80 | rand_r(&seed));
    }
  }
}

int main(int argc, char **argv) {
  if (argc != 5) return 64;
  int64_t rate = atoll(argv[2]), seconds = atoll(argv[3]);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  alarm((unsigned)seconds + 5);
  pin_to(atoi(argv[4]));
  make_shapes();
  int sock = socket(AF_INET, SOCK_DGRAM, 0);
  struct sockaddr_in address = {
      .sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(argv[1])), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  if (connect(sock, (struct sockaddr *)&address, sizeof address) != 0) die("connect");
  int64_t sent = 0, refused = 0, turn = 0, period = 1000000000LL * burst / rate;
  int64_t start = monotonic_now(), next = start, end = start + seconds * 1000000000;
  while (next < end) {
    struct iovec pieces[burst];
    struct mmsghdr messages[burst];
    memset(messages, 0, sizeof messages);
    for (int index = 0; index < burst; index++, turn++) {
      pieces[index] = (struct iovec){bytes[turn % shapes], lengths[turn % shapes]};
      messages[index].msg_hdr.msg_iov = &pieces[index];
      messages[index].msg_hdr.msg_iovlen = 1;
    }
    int taken = sendmmsg(sock, messages, burst, 0);
    if (taken > 0) sent += taken;
    else if (errno == ECONNREFUSED) refused += burst;
    next += period;
    sleep_until(next);
  }
  double elapsed = (double)(monotonic_now() - start) / 1e9;
  printf("{\"sent\": %lld, \"refused\": %lld, \"per_second\": %.0f}\n", (long long)sent, (long long)refused,
         (double)sent / elapsed);
}
