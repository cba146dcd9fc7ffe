// libmosquitto, whose functions Swift calls as they are, and the starting of a broker.
#pragma once
#include <sys/types.h>
#if !__has_include(<mosquitto.h>)
#error "apt install libmosquitto-dev, or build without the trait MQTT: swift build --disable-default-traits --traits …"
#else
#include <mosquitto.h>
#endif

enum { MQTT_FILES = 4 };

/// Starts a program, usually the launcher, which confines itself and becomes the broker: with `process_child_environment`, signals
/// unblocked and at their defaults, its three standard streams at /dev/null, `files` as descriptors 4, 5, 6, 7, and 3, on which it says why it
/// could not; no other. Returns when the other end of 3 is closed (it has become the broker, or has ended), with what came in `failure`, which
/// is empty otherwise. Does not copy the caller's memory. Returns the process id, or −errno if the program could not be started.
pid_t mqtt_spawn(const char *program, char *const arguments[], const int files[MQTT_FILES], char *failure, size_t size);
/// Says what `mqtt_spawn` will start after a program that has a spawner is confined. Returns 0 or −errno.
int mqtt_declare(const char *program, char *const arguments[]);
/// Returns the process that listens at the other end of a connected local socket, or −errno. The kernel says it.
pid_t mqtt_listener(int socket);
/// Returns the process that listens on a local socket, or −errno. Does not wait: −EAGAIN if it does not take connections.
pid_t mqtt_listener_at(const char *path);
/// Sends SIGTERM or SIGKILL to a process that `mqtt_spawn` has started. Returns 0 or −errno.
int mqtt_send_signal(pid_t process, int signal);
