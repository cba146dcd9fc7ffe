// The daemon's end of its two spawners: the one that serves, and the one that stands by for it.
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

// One pair a process: it is started before any other thread, and everything below is under this lock.
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
  /// The socket of the spawner, or −1 if the spawner has ended.
  int channel;
  /// The process id of the spawner, 0 if it is not known yet, or −1 if it has been reaped.
  pid_t process;
} spawners[SPAWNERS] = {{.channel = -1}, {.channel = -1}};
static int has_spawner, is_sealed;
static uint32_t last_number;
/// A definition of the table, and its newest process.
static struct {
  uint32_t kind;
  int32_t value;
  uint32_t descriptors;
  char *text;
  size_t size;
  pid_t process;
} defined[SPAWNER_ENTRIES];
static uint32_t defined_count;

/// Creates a socket pair whose descriptors are above the numbers at which the spawner gets them. Returns 0 or −errno.
static int make_channel(int ends[2]) {
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) return -errno;
  int error = 0;
  for (int end = 0; end < 2; end++) {
    ends[end] = fcntl(pair[end], F_DUPFD_CLOEXEC, SPAWNER_SECOND_SOCKET + 1);
    if (ends[end] < 0) error = -errno;
    close(pair[end]);
  }
  for (int end = 0; error && end < 2; end++) {
    if (ends[end] >= 0) close(ends[end]);
  }
  return error;
}

/// Starts the first spawner, which forks the second. Returns the process id of the first or −errno.
static pid_t start_first(char *const arguments[], char *const environment[], const int theirs[SPAWNERS]) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  process_begin_spawn(&actions, &attributes);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDWR, 0);
  posix_spawn_file_actions_adddup2(&actions, theirs[0], SPAWNER_SOCKET);
  posix_spawn_file_actions_adddup2(&actions, theirs[1], SPAWNER_SECOND_SOCKET);
  posix_spawn_file_actions_addclosefrom_np(&actions, SPAWNER_SECOND_SOCKET + 1);
  pid_t process = 0;
  int error = posix_spawn(&process, "/proc/self/exe", &actions, &attributes, arguments, environment);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  return error ? -error : process;
}

int process_spawner_start(const char *name, const char *const *folders) {
  size_t count = 0;
  while (folders[count]) count++;
  int theirs[SPAWNERS] = {-1, -1}, result = 0;
  for (int which = 0; which < SPAWNERS && result == 0; which++) {
    int ends[2];
    result = make_channel(ends);
    if (result == 0) spawners[which].channel = ends[0], theirs[which] = ends[1];
  }
  char **arguments = calloc(count + 3, sizeof *arguments);
  char **environment = process_child_environment();
  if (!arguments || !environment) result = -ENOMEM;
  if (result == 0) {
    arguments[0] = (char *)name;
    arguments[1] = "spawner";
    for (size_t index = 0; index < count; index++) arguments[2 + index] = (char *)folders[index];
    result = start_first(arguments, environment, theirs);
  }
  free(arguments);
  free(environment);
  for (int which = 0; which < SPAWNERS; which++) {
    if (theirs[which] >= 0) close(theirs[which]);
    if (result < 0 && spawners[which].channel >= 0) close(spawners[which].channel), spawners[which].channel = -1;
  }
  if (result > 0) spawners[0].process = result, has_spawner = 1;
  return result;
}

int process_has_spawner(void) { return has_spawner; }

static int lose(int which) {
  if (spawners[which].channel >= 0) close(spawners[which].channel);
  spawners[which].channel = -1;
  return -EPIPE;
}

/// Waits for the reply to request `number` and returns its result. A spawner that does not reply in time is given up, since a late reply
/// would be taken for that of another request.
static int await_reply(int which, uint32_t number, struct spawner_reply *reply, int *opened) {
  int descriptors[SPAWNER_DESCRIPTORS];
  uint32_t count = 0;
  struct pollfd waiting = {.fd = spawners[which].channel, .events = POLLIN};
  int ready;
  do ready = poll(&waiting, 1, PROCESS_SPAWNER_PATIENCE_MS);
  while (ready < 0 && errno == EINTR);
  ssize_t size =
      ready == 1 ? spawner_receive(spawners[which].channel, reply, sizeof *reply, descriptors, &count) : -ETIMEDOUT;
  int result = spawner_check_reply(reply, size, number, count, opened != NULL);
  if (result == -EPIPE) {
    while (count > 0) close(descriptors[--count]);
    memset(reply, 0, sizeof *reply);
    return lose(which);
  }
  if (count == 1) *opened = descriptors[0];
  return result;
}

/// The parts of a request.
struct question {
  struct spawner_head head;
  /// The bytes that follow the head.
  const char *text;
  size_t size;
  const int *descriptors;
};

/// Sends a request to one of the spawners and waits for its reply.
static int ask_one(int which, const struct question *question, struct spawner_reply *reply, int *opened) {
  size_t size = sizeof question->head + question->size;
  if (size > SPAWNER_SIZE) return -E2BIG;
  // The second says first who it is.
  if (spawners[which].process == 0) {
    if (await_reply(which, 0, reply, NULL) < 0) return -EPIPE;
    spawners[which].process = reply->process;
  }
  char *bytes = malloc(size);
  if (!bytes) return -ENOMEM;
  struct spawner_head head = question->head;
  head.number = ++last_number;
  memcpy(bytes, &head, sizeof head);
  if (question->size > 0) memcpy(bytes + sizeof head, question->text, question->size);
  int sent = spawner_send(spawners[which].channel, bytes, size, question->descriptors,
                          question->descriptors ? head.descriptors : 0);
  free(bytes);
  if (sent == -EPIPE || sent == -ECONNRESET) return lose(which);
  return sent < 0 ? sent : await_reply(which, head.number, reply, opened);
}

/// Sends a request to the first spawner, or to the second once the first has ended.
static int ask(struct question question, struct spawner_reply *reply, int *opened) {
  for (int which = 0; which < SPAWNERS; which++) {
    if (spawners[which].channel < 0) continue;
    int result = ask_one(which, &question, reply, opened);
    if (spawners[which].channel >= 0) return result;
  }
  return -EPIPE;
}

/// Sends a definition to both spawners. Returns the result of the first one that exists.
static int tell(struct question question) {
  struct spawner_reply reply;
  int result = -EPIPE;
  for (int which = 0; which < SPAWNERS; which++) {
    if (spawners[which].channel < 0) continue;
    int answer = ask_one(which, &question, &reply, NULL);
    if (spawners[which].channel < 0) continue;
    if (result == -EPIPE) result = answer;
    // Its table would be another.
    else if (answer != result) lose(which);
  }
  return result;
}

/// Returns the number of the entry with this definition, or −errno. A new entry is added if the table is not sealed.
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
  int result = tell((struct question){
      .head = {.kind = kind, .entry = defined_count, .value = value, .descriptors = descriptors}, .text = text, .size = size});
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
  int result = !has_spawner ? 0 : program_entry(path, arguments, streams, (uint32_t)count);
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
    struct spawner_head head = {.kind = SPAWNER_START, .entry = (uint32_t)index, .descriptors = (uint32_t)count};
    result = ask((struct question){.head = head, .descriptors = descriptors}, &reply, NULL);
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
    struct spawner_head head = {.kind = SPAWNER_SIGNAL, .entry = index, .value = signal};
    result = ask((struct question){.head = head}, &reply, NULL);
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
    result = ask((struct question){.head = {.kind = SPAWNER_OPEN, .entry = (uint32_t)result}}, &reply, &opened);
  }
  pthread_mutex_unlock(&lock);
  return result < 0 ? result : opened < 0 ? -EPIPE : opened;
}

int process_seal_spawner(void) {
  pthread_mutex_lock(&lock);
  int result = has_spawner ? tell((struct question){.head = {.kind = SPAWNER_SEAL}}) : 0;
  if (has_spawner) is_sealed = 1;
  pthread_mutex_unlock(&lock);
  return result;
}

int process_lost_spawners(void) {
  pthread_mutex_lock(&lock);
  int lost = 0;
  for (int which = 0; has_spawner && which < SPAWNERS; which++) {
    if (spawners[which].process > 0 && waitpid(spawners[which].process, NULL, WNOHANG) == spawners[which].process) {
      spawners[which].process = -1;
      lose(which);
    }
    lost += spawners[which].channel < 0;
  }
  pthread_mutex_unlock(&lock);
  return lost;
}
