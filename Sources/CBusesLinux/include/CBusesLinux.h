// The kernel's I2C, serial, GPIO and UDP calls behind plain types. What carries TACTUS_REALTIME neither locks nor allocates in
// user space and is callable in a tick; the rest belongs to opening and closing. Every function returns −errno on error.
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "CTactus.h"

// ---- Devices (opener.c)

/// Opens a device by its path and the flags of open(2). Returns a descriptor or −errno.
typedef int (*tactus_device_opener)(const char *path, int flags);

/// Sets the function that opens devices that this process cannot open, or NULL for none, which is the default.
void tactus_set_device_opener(tactus_device_opener opener);

// ---- I2C (i2c.c)

/// An opened adapter, /dev/i2c-N.
struct tactus_i2c {
  int descriptor;
  /// The address that the kernel has selected for SMBus transfers (I2C_SLAVE), or −1 before the first.
  int selected;
};

/// The abilities of an adapter, one bit each.
enum {
  TACTUS_I2C_WRITE_BYTE = 1,
  TACTUS_I2C_WRITE_BLOCK = 2,
  TACTUS_I2C_READ_BLOCK = 4,
  TACTUS_I2C_PLAIN = 8,
};

/// Opens the device. Returns a descriptor, or −errno.
int tactus_i2c_open(const char *path);
/// Claims the chip at `address` for this descriptor, as long as it is open. Returns −EBUSY if another descriptor in this or another
/// program has claimed it. The claim binds only those that claim as well.
int tactus_i2c_claim(int descriptor, uint8_t address);
/// Returns the TACTUS_I2C_… bits, or −errno if the device is no I2C adapter (ENOTTY).
int tactus_i2c_functions(int descriptor);
/// Limits a transfer to 10 ms (20 ms on a kernel with 100 timer ticks a second) and disables the kernel's retries, for all users of this adapter.
int tactus_i2c_bound(int descriptor);
/// Makes `address` the target of SMBus transfers. Returns −EBUSY if a kernel driver holds it.
TACTUS_REALTIME int tactus_i2c_select(struct tactus_i2c *bus, uint8_t address);

TACTUS_REALTIME int tactus_i2c_write_byte(struct tactus_i2c *bus, uint8_t address, uint8_t reg, uint8_t value);
/// Writes a block of 1…32 bytes.
TACTUS_REALTIME int tactus_i2c_write_block(
    struct tactus_i2c *bus, uint8_t address, uint8_t reg, const void *bytes, size_t count);
/// Reads a block of 1…32 bytes. Returns −EPROTO if the adapter delivered fewer.
TACTUS_REALTIME int tactus_i2c_read_block(
    struct tactus_i2c *bus, uint8_t address, uint8_t reg, void *bytes, size_t count);
/// Writes 0…32 bytes without a register (I2C_RDWR).
TACTUS_REALTIME int tactus_i2c_plain_write(
    struct tactus_i2c *bus, uint8_t address, const void *bytes, size_t count);
TACTUS_REALTIME int tactus_i2c_plain_read(struct tactus_i2c *bus, uint8_t address, void *bytes, size_t count);

// ---- SPI (spi.c)

/// Opens /dev/spidevB.C and sets the mode 0…3, 8 bits per word, most significant bit first, and the clock. Returns −EINVAL if the
/// driver refuses such a setting, and −ENOTTY if the device is no SPI device.
int tactus_spi_open(const char *path, uint8_t mode, uint32_t hertz);
/// Sends `count` bytes of `bytes` and replaces them by the received ones.
TACTUS_REALTIME int tactus_spi_exchange(int descriptor, void *bytes, size_t count);

// ---- Serial lines and pseudo-terminals (serial.c)

/// Opens a terminal device without making it the controlling terminal, nonblocking.
int tactus_serial_open(const char *path);
/// Returns 1 if the kernel writes its messages to the line behind `path`, otherwise 0.
int tactus_serial_is_console(const char *path);
/// Returns the known rate number `index` in ascending order, or 0 beyond the last.
int tactus_serial_rate(int index);
/// Sets the line to raw mode with 8 data bits, no parity, 1 stop bit and no flow control, at `baud`. Returns −ENOTTY if the device
/// is no terminal, and −EINVAL if the driver kept another setting.
int tactus_serial_configure(int descriptor, int baud);
/// Locks the line against other processes. Returns −EBUSY if another process has locked it.
int tactus_serial_claim(int descriptor);
void tactus_serial_release(int descriptor);
/// Replaces the device behind the descriptor by one that never polls readable and accepts no bytes, as long as the returned
/// descriptor is open. Returns that descriptor, or −errno.
int tactus_serial_detach(int descriptor);
/// Replaces the device behind the descriptor by that of `by`, and closes `by`. Other threads may be using the descriptor.
void tactus_serial_replace(int descriptor, int by);
/// Creates a pseudo-terminal in raw mode with two nonblocking descriptors. The path of the slave, of at most `size` bytes, is written to `path`.
int tactus_pty_open(int *master, int *slave, char *path, size_t size);

/// Returns the number of bytes that were accepted, or 0 if the line's buffer is full.
TACTUS_REALTIME long tactus_serial_write(int descriptor, const void *bytes, size_t count);
/// Returns the number of bytes that were read, 0 if none waits, or −EIO at the end of file.
TACTUS_REALTIME long tactus_serial_read(int descriptor, void *bytes, size_t count);

// ---- GPIO (gpio.c): the character device's uAPI v2, Linux 5.10 and later

/// The size of the kernel's texts: 32 bytes, which need not end in a zero, and a final zero.
enum { TACTUS_GPIO_TEXT = 33 };

/// The name of a chip, its label and its number of lines, such as `gpiochip0`, `pinctrl-bcm2711` and 58.
struct tactus_gpio_chip {
  char name[TACTUS_GPIO_TEXT];
  char label[TACTUS_GPIO_TEXT];
  uint32_t lines;
};

struct tactus_gpio_line {
  char name[TACTUS_GPIO_TEXT];
  /// The user of the line, which may be empty even if the line is used.
  char consumer[TACTUS_GPIO_TEXT];
  int32_t is_used;
  int32_t is_output;
  int32_t is_active_low;
};

enum { TACTUS_GPIO_AS_IS, TACTUS_GPIO_PULL_UP, TACTUS_GPIO_PULL_DOWN, TACTUS_GPIO_NO_PULL };

struct tactus_gpio_input {
  uint32_t offset;
  int32_t is_active_low;
  int32_t rising;
  int32_t falling;
  int32_t pull;
  uint32_t debounce_us;
};

/// Opens a chip. Returns a descriptor, or −errno.
int tactus_gpio_open(const char *path);
int tactus_gpio_chip(int descriptor, struct tactus_gpio_chip *chip);
/// Returns −EINVAL for an offset beyond the last line.
int tactus_gpio_line(int descriptor, uint32_t offset, struct tactus_gpio_line *line);
/// Requests 1…64 lines as inactive outputs, where bit k of `active_low` stands for line k. Returns the lines' descriptor, which is
/// close-on-exec, or −EBUSY if a line is in use.
int tactus_gpio_request_outputs(
    int descriptor, const uint32_t *offsets, size_t count, uint64_t active_low, const char *consumer);
/// Requests 1…64 lines as inputs with their edges. Returns the lines' descriptor, which is close-on-exec and nonblocking, or −E2BIG
/// if the lines have more than ten different settings.
int tactus_gpio_request_events(
    int descriptor, const struct tactus_gpio_input *inputs, size_t count, const char *consumer);

TACTUS_REALTIME int tactus_gpio_set(int descriptor, uint64_t mask, uint64_t values);
TACTUS_REALTIME int tactus_gpio_get(int descriptor, uint64_t mask, uint64_t *values);

struct tactus_gpio_events {
  int descriptor;
  uint32_t count;
  uint32_t offsets[64];
};

struct tactus_gpio_edge {
  int64_t at;
  uint32_t line;
  uint32_t sequence;
  int32_t is_rising;
};

/// The greatest number of edges that one call of `tactus_gpio_edges` takes.
enum { TACTUS_GPIO_BATCH = 64 };

/// Takes up to `capacity` edges. Returns their number, which is 0 if none waits.
TACTUS_REALTIME long tactus_gpio_edges(
    const struct tactus_gpio_events *events, struct tactus_gpio_edge *edges, size_t capacity);

// ---- PWM (pwm.c): the kernel's attribute files below /sys/class/pwm

/// Opens an attribute for reading and writing. Returns a descriptor, or −errno.
int tactus_pwm_open(const char *path);
/// Claims the attribute for this descriptor, as `tactus_i2c_claim` claims a chip.
int tactus_pwm_claim(int descriptor);
/// Writes a non-negative number as the attribute's whole content.
TACTUS_REALTIME int tactus_pwm_set(int descriptor, int64_t value);
/// Reads the attribute's number. Returns −EIO if the attribute contains none.
int tactus_pwm_get(int descriptor, int64_t *value);
/// Opens the attribute, writes a text and closes it.
int tactus_pwm_store(const char *path, const char *text);

// ---- UDP (datagram.c)

/// An IPv6 address, or an IPv4 address as ::ffff:a.b.c.d: the 16 address bytes as two words in host order.
struct tactus_endpoint {
  uint64_t high;
  uint64_t low;
  uint32_t scope;
  uint16_t port;
};

struct tactus_datagram_socket;

/// Parses a numeric address, such as `fe80::1%eth0`, into the address part of `endpoint`. Returns 4, 6 or −EINVAL.
int tactus_parse_address(const char *text, struct tactus_endpoint *endpoint);
/// Opens a socket, enlarges its receive buffer and binds it. `family` is 4 or 6.
int tactus_datagram_open(
    int family, const struct tactus_endpoint *local, int buffer_bytes, struct tactus_datagram_socket **socket);
void tactus_datagram_close(struct tactus_datagram_socket *socket);
int tactus_datagram_descriptor(const struct tactus_datagram_socket *socket);
int tactus_datagram_local(const struct tactus_datagram_socket *socket, struct tactus_endpoint *local);
/// Returns the receive buffer in effect as the kernel accounts it, which is twice the requested size.
int tactus_datagram_buffer(const struct tactus_datagram_socket *socket);

/// The greatest number of datagrams that one call of `tactus_datagram_receive` takes.
enum { TACTUS_DATAGRAM_BATCH = 64 };

/// Receives up to `capacity` (1…TACTUS_DATAGRAM_BATCH) datagrams with one system call. Datagram i is cut to `size` bytes and stored
/// at `bytes + i × size`. Returns the number of datagrams, which is 0 if none waits.
TACTUS_REALTIME long tactus_datagram_receive(
    struct tactus_datagram_socket *socket, void *bytes, size_t capacity, size_t size);
/// Returns the true length of datagram `index` of the last receive, and its source.
TACTUS_REALTIME size_t tactus_datagram_header(
    const struct tactus_datagram_socket *socket, size_t index, struct tactus_endpoint *source);
/// Returns the time at which the kernel received datagram `index` of the last receive, in nanoseconds since 1970, UTC, or 0 if the
/// kernel does not report it.
TACTUS_REALTIME int64_t tactus_datagram_stamp(const struct tactus_datagram_socket *socket, size_t index);
/// Sends a datagram. Returns 0 or −errno.
TACTUS_REALTIME long tactus_datagram_send(
    struct tactus_datagram_socket *socket, const struct tactus_endpoint *target, const void *bytes, size_t count);
/// Returns the number of datagrams that the kernel dropped since the socket was opened because its buffer was full.
int64_t tactus_datagram_drops(const struct tactus_datagram_socket *socket);

// ---- Sensors (sensor.c): files below /sys/class/hwmon, /sys/bus/iio and /sys/bus/w1

/// Reads at most `size` bytes of a file of sysfs. Blocks as long as the sensor takes. Returns how many, or −errno.
int tactus_sensor_read(const char *path, uint8_t *bytes, int size);

// ---- Errors

/// Returns the text of strerror, which is a static text of the C library.
const char *tactus_error_text(int error);
