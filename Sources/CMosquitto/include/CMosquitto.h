// libmosquitto, whose functions Swift calls as they are, and the starting of a broker.
#pragma once
#include <sys/types.h>
#if !__has_include(<mosquitto.h>)
#error "apt install libmosquitto-dev, or build without the trait MQTT: swift build --disable-default-traits --traits …"
#else
#include <mosquitto.h>
#endif

/// Starts the launcher, which confines itself and becomes the broker: with `process_child_environment`, signals unblocked and at their
/// defaults, its three standard streams at /dev/null, `file` as descriptor 4, and 3, on which it says why it could not; no other.
/// Returns when it has become the broker or has said why not, with that text in `failure`, which is empty otherwise. Does not copy the
/// caller's memory. Returns the process id, or −errno if the launcher could not be started.
pid_t mqtt_spawn(const char *launcher, char *const arguments[], int file, char *failure, size_t size);
