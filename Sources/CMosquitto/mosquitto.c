#ifdef MQTT
#define _GNU_SOURCE
#include "CMosquitto.h"
#include "CProcess.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

// What the launcher says. The end of file comes when it has become the broker, or has ended.
static void hear(int report, char *failure, size_t size) {
  size_t length = 0;
  while (report >= 0 && length + 1 < size) {
    ssize_t count = read(report, failure + length, size - 1 - length);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    length += (size_t)count;
    failure[length] = 0;
  }
}

int mqtt_declare(const char *program, char *const arguments[]) {
  return process_declare(program, arguments, PROCESS_STREAMS_NONE, 1 + MQTT_FILES);
}

pid_t mqtt_listener(int socket) {
  struct ucred listener;
  socklen_t size = sizeof listener;
  return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &listener, &size) < 0 ? -errno : listener.pid;
}

pid_t mqtt_listener_at(const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (strlen(path) >= sizeof address.sun_path) return -ENAMETOOLONG;
  strcpy(address.sun_path, path);
  int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (descriptor < 0) return -errno;
  int is_connected = connect(descriptor, (const struct sockaddr *)&address, sizeof address) == 0;
  pid_t result = is_connected ? mqtt_listener(descriptor) : -errno;
  close(descriptor);
  return result;
}

int mqtt_send_signal(pid_t process, int signal) { return process_signal(process, signal); }

pid_t mqtt_spawn(const char *program, char *const arguments[], const int files[MQTT_FILES], char *failure, size_t size) {
  // Aside: any may have the number that another is to get.
  enum { aside = 4 + MQTT_FILES };
  int report[2];
  failure[0] = 0;
  if (pipe2(report, O_CLOEXEC) < 0) return -errno;
  if (process_has_spawner()) {
    int given[1 + MQTT_FILES] = {report[1]};
    memcpy(given + 1, files, MQTT_FILES * sizeof *files);
    pid_t started = process_start(program, arguments, PROCESS_STREAMS_NONE, given, 1 + MQTT_FILES);
    close(report[1]);
    hear(started < 0 ? -1 : report[0], failure, size);
    close(report[0]);
    return started;
  }
  int end = fcntl(report[1], F_DUPFD_CLOEXEC, aside);
  int copies[MQTT_FILES], copied = 1;
  for (int place = 0; place < MQTT_FILES; place++) {
    copies[place] = fcntl(files[place], F_DUPFD_CLOEXEC, aside);
    copied = copied && copies[place] >= 0;
  }
  char **environment = process_child_environment();
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  process_begin_spawn(&actions, &attributes);
  for (int stream = 0; stream < 3; stream++) {
    posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", O_RDWR, 0);
  }
  posix_spawn_file_actions_adddup2(&actions, end, 3);
  for (int place = 0; place < MQTT_FILES; place++) posix_spawn_file_actions_adddup2(&actions, copies[place], 4 + place);
  posix_spawn_file_actions_addclosefrom_np(&actions, 4 + MQTT_FILES);

  pid_t child = 0;
  int error = end < 0 || !copied || !environment
                  ? ENOMEM
                  : posix_spawn(&child, program, &actions, &attributes, arguments, environment);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  free(environment);
  if (end >= 0) close(end);
  for (int place = 0; place < MQTT_FILES; place++) {
    if (copies[place] >= 0) close(copies[place]);
  }
  close(report[1]);
  hear(error ? -1 : report[0], failure, size);
  close(report[0]);
  return error ? -error : child;
}
#endif
