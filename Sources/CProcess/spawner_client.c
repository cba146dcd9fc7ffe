// The daemon's end of its spawner.
#define _GNU_SOURCE
#include "spawner.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

// One spawner a process: it is started before any other thread, and everything below is under this lock.
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int channel = -1;
static pid_t spawner;
static int is_sealed, is_reaped;
static uint32_t last_number;
/// What has been defined, and the process that it was started as last.
static struct {
  uint32_t kind;
  int32_t value;
  uint32_t descriptors;
  char *text;
  size_t size;
  pid_t process;
} defined[SPAWNER_ENTRIES];
static uint32_t defined_count;

int process_spawner_start(const char *name, const char *const *folders) {
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) return -errno;
  size_t count = 0;
  while (folders[count]) count++;
  char **arguments = calloc(count + 3, sizeof *arguments);
  char **environment = process_child_environment();
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  process_begin_spawn(&actions, &attributes);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDWR, 0);
  posix_spawn_file_actions_adddup2(&actions, pair[1], SPAWNER_SOCKET);
  posix_spawn_file_actions_addclosefrom_np(&actions, SPAWNER_SOCKET + 1);
  int error = ENOMEM;
  if (arguments && environment) {
    arguments[0] = (char *)name;
    arguments[1] = "spawner";
    for (size_t index = 0; index < count; index++) arguments[2 + index] = (char *)folders[index];
    error = posix_spawn(&spawner, "/proc/self/exe", &actions, &attributes, arguments, environment);
  }
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  free(arguments);
  free(environment);
  close(pair[1]);
  if (error) {
    spawner = 0;
    close(pair[0]);
    return -error;
  }
  channel = pair[0];
  return spawner;
}

int process_has_spawner(void) { return spawner != 0; }

/// Waits for the reply of the last request. Returns its result; a spawner that does not reply in time is given up: a late reply would be
/// taken for another's.
static int await_reply(struct spawner_reply *reply, int *opened) {
  int descriptors[SPAWNER_DESCRIPTORS];
  uint32_t count = 0;
  struct pollfd waiting = {.fd = channel, .events = POLLIN};
  int ready;
  do ready = poll(&waiting, 1, PROCESS_SPAWNER_PATIENCE_MS);
  while (ready < 0 && errno == EINTR);
  ssize_t size = ready == 1 ? spawner_receive(channel, reply, sizeof *reply, descriptors, &count) : -ETIMEDOUT;
  int is_good = size == sizeof *reply && reply->number == last_number && count <= (opened ? 1u : 0u);
  if (is_good) {
    if (opened && count == 1) *opened = descriptors[0];
    return reply->result;
  }
  while (count > 0) close(descriptors[--count]);
  close(channel);
  channel = -1;
  return -EPIPE;
}

/// Sends a request, of which `count` descriptors are part, and waits for its reply.
static int ask(
    struct spawner_head head, const char *text, size_t size, const int *descriptors, uint32_t count, struct spawner_reply *reply,
    int *opened) {
  if (channel < 0) return -EPIPE;
  if (sizeof head + size > SPAWNER_SIZE) return -E2BIG;
  char *bytes = malloc(sizeof head + size);
  if (!bytes) return -ENOMEM;
  head.number = ++last_number;
  memcpy(bytes, &head, sizeof head);
  if (size > 0) memcpy(bytes + sizeof head, text, size);
  int sent = spawner_send(channel, bytes, sizeof head + size, descriptors, count);
  free(bytes);
  return sent < 0 ? sent : await_reply(reply, opened);
}

/// The entry with this definition, which is made if it is new and the table is open. Returns its number or −errno.
static int entry(uint32_t kind, int32_t value, uint32_t descriptors, const char *text, size_t size) {
  for (uint32_t index = 0; index < defined_count; index++) {
    if (defined[index].kind == kind && defined[index].value == value && defined[index].descriptors == descriptors &&
        defined[index].size == size && memcmp(defined[index].text, text, size) == 0) {
      return (int)index;
    }
  }
  if (is_sealed) return -EPERM;
  if (defined_count == SPAWNER_ENTRIES) return -ENOSPC;
  char *copy = malloc(size);
  if (!copy) return -ENOMEM;
  memcpy(copy, text, size);
  struct spawner_reply reply;
  int result = ask(
      (struct spawner_head){.kind = kind, .entry = defined_count, .value = value, .descriptors = descriptors}, text, size, NULL, 0,
      &reply, NULL);
  if (result < 0) {
    free(copy);
    return result;
  }
  defined[defined_count].kind = kind;
  defined[defined_count].value = value;
  defined[defined_count].descriptors = descriptors;
  defined[defined_count].text = copy;
  defined[defined_count].size = size;
  return (int)defined_count++;
}

static int program_entry(const char *path, char *const arguments[], enum process_streams streams, uint32_t count) {
  size_t size = strlen(path) + 1;
  for (char *const *argument = arguments; *argument; argument++) size += strlen(*argument) + 1;
  char *text = malloc(size);
  if (!text) return -ENOMEM;
  char *end = stpcpy(text, path) + 1;
  for (char *const *argument = arguments; *argument; argument++) end = stpcpy(end, *argument) + 1;
  int result = entry(SPAWNER_PROGRAM, (int32_t)streams, count, text, size);
  free(text);
  return result;
}

int process_declare(const char *path, char *const arguments[], enum process_streams streams, int count) {
  pthread_mutex_lock(&lock);
  int result = spawner == 0 ? 0 : program_entry(path, arguments, streams, (uint32_t)count);
  pthread_mutex_unlock(&lock);
  return result < 0 ? result : 0;
}

pid_t process_start(
    const char *path, char *const arguments[], enum process_streams streams, const int *descriptors, int count) {
  pthread_mutex_lock(&lock);
  struct spawner_reply reply = {0};
  int index = program_entry(path, arguments, streams, (uint32_t)count);
  int result = index;
  if (index >= 0) {
    result = ask(
        (struct spawner_head){.kind = SPAWNER_START, .entry = (uint32_t)index, .descriptors = (uint32_t)count}, NULL, 0, descriptors,
        (uint32_t)count, &reply, NULL);
    // One that could not become its program has ended.
    if (result < 0 && reply.process > 0) waitpid(reply.process, NULL, 0);
    if (result > 0) defined[index].process = result;
  }
  pthread_mutex_unlock(&lock);
  return result;
}

int process_signal(pid_t process, int signal) {
  pthread_mutex_lock(&lock);
  int result = -ESRCH;
  struct spawner_reply reply;
  for (uint32_t index = 0; index < defined_count; index++) {
    if (defined[index].process != process) continue;
    result = ask((struct spawner_head){.kind = SPAWNER_SIGNAL, .entry = index, .value = signal}, NULL, 0, NULL, 0, &reply, NULL);
  }
  pthread_mutex_unlock(&lock);
  // Of our own making, or the spawner is gone.
  return result < 0 && kill(process, signal) < 0 ? -errno : 0;
}

int process_open_device(const char *path, int flags) {
  pthread_mutex_lock(&lock);
  struct spawner_reply reply;
  int opened = -1;
  int result = entry(SPAWNER_DEVICE, flags, 0, path, strlen(path) + 1);
  if (result >= 0) {
    result = ask((struct spawner_head){.kind = SPAWNER_OPEN, .entry = (uint32_t)result}, NULL, 0, NULL, 0, &reply, &opened);
  }
  pthread_mutex_unlock(&lock);
  return result < 0 ? result : opened < 0 ? -EPIPE : opened;
}

int process_seal_spawner(void) {
  pthread_mutex_lock(&lock);
  struct spawner_reply reply;
  int result = spawner == 0 ? 0 : ask((struct spawner_head){.kind = SPAWNER_SEAL}, NULL, 0, NULL, 0, &reply, NULL);
  if (spawner != 0) is_sealed = 1;
  pthread_mutex_unlock(&lock);
  return result;
}

int process_is_spawner_lost(void) {
  pthread_mutex_lock(&lock);
  if (spawner != 0 && !is_reaped && waitpid(spawner, NULL, WNOHANG) == spawner) {
    is_reaped = 1;
    if (channel >= 0) close(channel);
    channel = -1;
  }
  int is_lost = spawner != 0 && channel < 0;
  pthread_mutex_unlock(&lock);
  return is_lost;
}
