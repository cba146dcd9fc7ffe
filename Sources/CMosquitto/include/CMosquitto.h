// libmosquitto, whose functions Swift calls as they are, and the starting of a broker.
#pragma once
#include <sys/types.h>
#if !__has_include(<mosquitto.h>)
#error "apt install libmosquitto-dev, or build without the trait MQTT: swift build --disable-default-traits --traits …"
#else
#include <mosquitto.h>
#endif

enum { MQTT_FILES = 3 };

/// Starts a program with its arguments, nothing of our environment, signals unblocked and at their defaults, its three standard
/// streams at /dev/null, `files` as descriptors 4, 5, 6 and no other, as that user and group. It is terminated when the calling thread
/// ends. Returns the process id, or −errno.
pid_t mqtt_spawn(const char *path, char *const arguments[], const int files[MQTT_FILES], uid_t user, gid_t group);
