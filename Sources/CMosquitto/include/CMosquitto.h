// libmosquitto, whose functions Swift calls as they are, and the starting of a broker.
#pragma once
#include <sys/types.h>
#if !__has_include(<mosquitto.h>)
#error "apt install libmosquitto-dev, or build without the trait MQTT: swift build --disable-default-traits --traits …"
#else
#include <mosquitto.h>
#endif

enum { MQTT_FILES = 4 };

/// Starts a program, usually the launcher, which confines itself and becomes the broker. The program gets
/// `process_child_environment`, signals unblocked and at their defaults, its three standard streams at /dev/null, `files` as
/// descriptors 4 to 7, descriptor 3 for the message of a failure, and no other descriptor. Returns when the other end of descriptor
/// 3 is closed, because the program has become the broker or has ended; `failure` then holds the message, which is empty on
/// success. The caller's memory is not copied. Returns the process id, or −errno if the program could not be started.
pid_t mqtt_spawn(const char *program, char *const arguments[], const int files[MQTT_FILES], char *failure, size_t size);
/// Declares what `mqtt_spawn` will start after a program that has a spawner is confined. Returns 0 or −errno.
int mqtt_declare(const char *program, char *const arguments[]);
/// Returns the process that listens at the other end of a connected local socket as the kernel reports it, or −errno.
pid_t mqtt_listener(int socket);
/// Returns the process that listens on a local socket, or −errno. Does not wait; returns −EAGAIN if the socket accepts no connections.
pid_t mqtt_listener_at(const char *path);
/// Sends SIGTERM or SIGKILL to a process that `mqtt_spawn` has started. Returns 0 or −errno.
int mqtt_send_signal(pid_t process, int signal);
