// receiver PORT FD [FIFO CPU]: the motor receiver as it would be written in C: recvfrom, parse, write.
//
// Takes {"left": l, "right": r, "timestamp": t} on 127.0.0.1:PORT, keys in any order; acts on newer timestamps only;
// writes [direction, duty, direction, duty] to FD, and a stop after one second of silence.
#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common.h"

static const char *skip(const char *text) {
  while (*text == ' ' || *text == '\t' || *text == '\r' || *text == '\n') text++;
  return text;
}

// One flat object of numbers; unknown keys are errors.
static int parse(const char *text, double *left, double *right, double *timestamp) {
  text = skip(text);
  if (*text++ != '{') return 0;
  for (;;) {
    text = skip(text);
    double *target;
    if (strncmp(text, "\"left\"", 6) == 0) target = left, text += 6;
    else if (strncmp(text, "\"right\"", 7) == 0) target = right, text += 7;
    else if (strncmp(text, "\"timestamp\"", 11) == 0) target = timestamp, text += 11;
    else return 0;
    text = skip(text);
    if (*text++ != ':') return 0;
    text = skip(text);
    if (*text != '-' && (*text < '0' || *text > '9')) return 0;
    char *end;
    *target = strtod(text, &end);
    if (end == text || !isfinite(*target)) return 0;
    text = skip(end);
    if (*text == ',') text++;
    else if (*text == '}') return *skip(text + 1) == 0;
    else return 0;
  }
}

static unsigned char duty(double percent) {
  double magnitude = fmin(fabs(percent), 100);
  return (unsigned char)lround(magnitude * 255 / 100);
}

int main(int argc, char **argv) {
  if (argc < 3) return 64;
  int motor = atoi(argv[2]);
  int sock = socket(AF_INET, SOCK_DGRAM, 0);
  struct sockaddr_in address = {
      .sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(argv[1])), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  if (bind(sock, (struct sockaddr *)&address, sizeof address) != 0) die("bind");
  struct timeval second = {.tv_sec = 1};
  setsockopt(sock, SOL_SOCKET, SO_RCVTIMEO, &second, sizeof second);
  if (argc > 4) {
    pin_to(atoi(argv[4]));
    run_at_fifo(atoi(argv[3]));
  }
  double newest = -INFINITY;
  for (;;) {
    char text[2049];
    struct sockaddr_in source;
    socklen_t size = sizeof source;
    ssize_t length = recvfrom(sock, text, sizeof text - 1, 0, (struct sockaddr *)&source, &size);
    unsigned char frame[4] = {1, 0, 1, 0};
    if (length >= 0) {
      text[length] = 0;
      double left = 0, right = 0, timestamp = NAN;
      if (!parse(text, &left, &right, &timestamp)) continue;
      if (timestamp <= newest) continue;
      if (!isnan(timestamp)) newest = timestamp;
      frame[0] = left >= 0, frame[1] = duty(left), frame[2] = right >= 0, frame[3] = duty(right);
    } else if (errno != EAGAIN && errno != EINTR) {
      die("recvfrom");
    }
    if (write(motor, frame, sizeof frame) != sizeof frame) return 0;
  }
}
