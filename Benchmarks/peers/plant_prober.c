// plant_prober latency PORT COUNT OUT: how long from a Plant-Tracker request to its reply, through the broker at 127.0.0.1:PORT.
// plant_prober flood PORT RATE SECONDS LIMITED: RATE requests a second for SECONDS, paced; what came back.
// plant_prober echo PORT: the least a host can be: the reply that latency expects, whatever was asked; ends with its input.
//
// latency adds a plant, then asks for its sensor's data, one request at a time, each reply checked but for what the sensor
// reads; OUT gets nanoseconds, from just before the request is given to libmosquitto to its reply's callback. One that has no
// answer within 2 s is lost.
// flood asks as 50 senders for the number of plants and checks each reply whole; 3 s after the last request what has no reply is counted.
// LIMITED 1: a reply may be ERR_kickedForSpam. Prints JSON.
#include <mosquitto.h>
#include <stdbool.h>

#include "common.h"

#define HOST "Host-RPI3B+"
#define TO_HOST "rpi/torpi"
#define FROM_HOST "rpi/fromrpi"
enum { senders = 50 };

static struct mosquitto *client;
static const char *topic;  // what is listened to
static bool subscribed;
static int64_t answered_at;
static long wanted = -1;  // latency: the ID that is waited for
static bool added;
static bool ready;  // a reply to the first request of all has come: the host listens

static unsigned char *seen;  // flood: by ID
static long total;
static long correct, kicked, wrong, twice;
static bool limited;

static void check(int result, const char *what) {
  if (result == MOSQ_ERR_SUCCESS) return;
  fprintf(stderr, "plant_prober: %s: %s\n", what, mosquitto_strerror(result));
  exit(1);
}

static void connected(struct mosquitto *one, void *context, int code) {
  (void)context;
  if (code != 0) {
    fprintf(stderr, "plant_prober: refused: %s\n", mosquitto_connack_string(code));
    exit(1);
  }
  check(mosquitto_subscribe(one, NULL, topic, 0), "subscribe");
}

static void granted(struct mosquitto *one, void *context, int id, int count, const int *codes) {
  (void)one, (void)context, (void)id, (void)count, (void)codes;
  subscribed = true;
}

static bool ends_with(const char *text, size_t length, const char *end) {
  size_t count = strlen(end);
  return length >= count && memcmp(text + length - count, end, count) == 0;
}

// Of a flood: which request it answers, checked whole.
static void count_reply(const char *text, size_t length) {
  char expected[256];
  long id = strtol(text + 3, NULL, 10);
  if (id < 1 || id > total) return;
  int sender = id % senders;
  int size = snprintf(
      expected, sizeof expected, "ID:%ld;sender:" HOST ";receiver:app%d;payload:0;operation:RES_numPlants", id, sender);
  bool is_right = (size_t)size == length && memcmp(expected, text, length) == 0;
  bool is_kick = limited && ends_with(text, length, ";payload:none;operation:ERR_kickedForSpam");
  if (!is_right && !is_kick) {
    wrong++;
    return;
  }
  if (seen[id]++) {
    twice++;
    return;
  }
  if (is_right) correct++;
  else kicked++;
}

static void received(struct mosquitto *one, void *context, const struct mosquitto_message *message) {
  int64_t now = monotonic_now();
  (void)one, (void)context;
  const char *text = message->payload;
  size_t length = message->payloadlen;
  if (length < 4 || memcmp(text, "ID:", 3) != 0) return;
  long id = strtol(text + 3, NULL, 10);
  if (seen != NULL && id > 0) return count_reply(text, length);
  if (id == 0) {
    ready = true;
    if (ends_with(text, length, ";operation:RES_addNewPlant") || ends_with(text, length, ";operation:ERR_plantNameTaken")) added = true;
    return;
  }
  char start[128];
  int size = snprintf(start, sizeof start, "ID:%ld;sender:" HOST ";receiver:bench;payload:{'moisture'-- ", id);
  if (id != wanted || (size_t)size > length || memcmp(start, text, size) != 0
      || !ends_with(text, length, ";operation:RES_plantSensorData")) {
    wrong++;
    return;
  }
  answered_at = now;
}

static void publish(const char *text) { check(mosquitto_publish(client, NULL, TO_HOST, strlen(text), text, 0, false), "publish"); }

static void turn(int milliseconds) { check(mosquitto_loop(client, milliseconds, 1), "loop"); }

static void connect_to(int port, const char *to) {
  topic = to;
  mosquitto_lib_init();
  client = mosquitto_new(NULL, true, NULL);
  if (client == NULL) die("mosquitto_new");
  mosquitto_int_option(client, MOSQ_OPT_TCP_NODELAY, 1);
  mosquitto_connect_callback_set(client, connected);
  mosquitto_subscribe_callback_set(client, granted);
  mosquitto_message_callback_set(client, received);
  check(mosquitto_connect(client, "127.0.0.1", port, 60), "connect");
  while (!subscribed) turn(100);
}

// Asks until there is an answer: the host may not have subscribed yet.
static void await_host(const char *question, bool *answer) {
  int64_t until = monotonic_now() + 20000000000;
  while (!*answer) {
    if (monotonic_now() > until) {
      fprintf(stderr, "plant_prober: the host does not answer\n");
      exit(1);
    }
    publish(question);
    int64_t next = monotonic_now() + 200000000;
    while (!*answer && monotonic_now() < next) turn(50);
  }
  // What earlier questions bring.
  int64_t quiet = monotonic_now() + 300000000;
  while (monotonic_now() < quiet) turn(50);
}

static int latency(char **words) {
  long count = atol(words[1]), lost = 0, got = 0;
  int64_t *samples = calloc(count, sizeof *samples);
  await_host("ID:0;sender:bench;receiver:" HOST ";payload:Basil--[\"0x36\"];operation:REQ_addNewPlant", &added);
  const long warm = 50;
  for (long id = 1; id <= count + warm; id++) {
    char request[160];
    snprintf(request, sizeof request, "ID:%ld;sender:bench;receiver:" HOST ";payload:all;operation:REQ_plantSensorData", id);
    wanted = id;
    answered_at = 0;
    int64_t sent = monotonic_now();
    publish(request);
    while (answered_at == 0 && monotonic_now() - sent < 2000000000) turn(100);
    if (answered_at == 0) lost++;
    else if (id > warm) samples[got++] = answered_at - sent;
  }
  write_samples(words[2], samples, got);
  printf("{\"asked\":%ld,\"answered\":%ld,\"lost\":%ld,\"wrong\":%ld}\n", count, got, lost, wrong);
  return 0;
}

static int flood(char **words) {
  long rate = atol(words[1]), seconds = atol(words[2]);
  limited = atoi(words[3]) != 0;
  total = rate * seconds;
  await_host("ID:0;sender:early;receiver:" HOST ";payload:;operation:REQ_numPlants", &ready);
  seen = calloc(total + 1, 1);
  int64_t began = monotonic_now();
  long sent = 0;
  while (sent < total) {
    long due = (monotonic_now() - began) / 1000 * rate / 1000000 + 1;
    for (; sent < due && sent < total; sent++) {
      char request[160];
      snprintf(
          request, sizeof request, "ID:%ld;sender:app%ld;receiver:" HOST ";payload:;operation:REQ_numPlants", sent + 1,
          (sent + 1) % senders);
      publish(request);
    }
    turn(1);
  }
  double took = (monotonic_now() - began) / 1e9;
  int64_t until = monotonic_now() + 3000000000;
  while (correct + kicked < total && monotonic_now() < until) turn(10);
  printf(
      "{\"sent\":%ld,\"seconds\":%.3f,\"correct\":%ld,\"kicked\":%ld,\"wrong\":%ld,\"twice\":%ld,\"silent\":%ld}\n", sent, took,
      correct, kicked, wrong, twice, total - correct - kicked);
  return 0;
}

static void answer(struct mosquitto *one, void *context, const struct mosquitto_message *message) {
  (void)context;
  const char *text = message->payload;
  if (message->payloadlen < 4 || memcmp(text, "ID:", 3) != 0) return;
  bool is_add = ends_with(text, message->payloadlen, ";operation:REQ_addNewPlant");
  char reply[160];
  int size = snprintf(
      reply, sizeof reply, "ID:%ld;sender:" HOST ";receiver:bench;payload:%s", strtol(text + 3, NULL, 10),
      is_add ? "Basil;operation:RES_addNewPlant" : "{'moisture'-- 512};operation:RES_plantSensorData");
  check(mosquitto_publish(one, NULL, FROM_HOST, size, reply, 0, false), "publish");
}

static int echo(void) {
  mosquitto_message_callback_set(client, answer);
  check(mosquitto_loop_start(client), "loop");
  while (getchar() != EOF) continue;
  return 0;
}

int main(int count, char **words) {
  bool is_latency = count == 5 && strcmp(words[1], "latency") == 0;
  bool is_flood = count == 6 && strcmp(words[1], "flood") == 0;
  bool is_echo = count == 3 && strcmp(words[1], "echo") == 0;
  if (!is_latency && !is_flood && !is_echo) {
    fprintf(stderr, "plant_prober latency PORT COUNT OUT | flood PORT RATE SECONDS LIMITED | echo PORT\n");
    return 64;
  }
  connect_to(atoi(words[2]), is_echo ? TO_HOST : FROM_HOST);
  if (is_echo) return echo();
  return is_latency ? latency(words + 2) : flood(words + 2);
}
