// The kernel's I2C, serial, GPIO and UDP calls behind plain types. What carries TACTUS_REALTIME neither locks nor allocates in
// user space and is callable in a tick; the rest belongs to opening and closing. Every function returns −errno on error.
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "CTactus.h"

// ---- Devices (opener.c)

/// Opens a device: its path, the flags of open(2). Returns a descriptor or −errno.
typedef int (*tactus_device_opener)(const char *path, int flags);

/// Sets who opens a device that this process cannot open; NULL for nobody, which is the default.
void tactus_set_device_opener(tactus_device_opener opener);

// ---- I2C (i2c.c)

/// One opened adapter: /dev/i2c-N.
struct tactus_i2c {
  int descriptor;
  /// The address the kernel holds for SMBus transfers (I2C_SLAVE), −1 before the first.
  int selected;
};

/// What an adapter can do, one bit each.
enum {
  TACTUS_I2C_WRITE_BYTE = 1,
  TACTUS_I2C_WRITE_BLOCK = 2,
  TACTUS_I2C_READ_BLOCK = 4,
  TACTUS_I2C_PLAIN = 8,
};

/// Opens the device; a negative result is −errno.
int tactus_i2c_open(const char *path);
/// Takes the chip at `address` for this descriptor, as long as it is open; −EBUSY when another descriptor has it, here or in another
/// program. It binds only those who ask.
int tactus_i2c_claim(int descriptor, uint8_t address);
/// The TACTUS_I2C_… bits, or −errno when the device is no I2C adapter (ENOTTY).
int tactus_i2c_functions(int descriptor);
/// Bounds a transfer to 10 ms (20 ms on a kernel with 100 timer ticks a second) and switches the kernel's own retries off, for everybody on this adapter.
int tactus_i2c_bound(int descriptor);
/// Makes `address` the target of SMBus transfers; −EBUSY when a kernel driver holds it.
TACTUS_REALTIME int tactus_i2c_select(struct tactus_i2c *bus, uint8_t address);

TACTUS_REALTIME int tactus_i2c_write_byte(struct tactus_i2c *bus, uint8_t address, uint8_t reg, uint8_t value);
/// 1…32 bytes.
TACTUS_REALTIME int tactus_i2c_write_block(
    struct tactus_i2c *bus, uint8_t address, uint8_t reg, const void *bytes, size_t count);
/// 1…32 bytes; −EPROTO when the adapter delivered fewer.
TACTUS_REALTIME int tactus_i2c_read_block(
    struct tactus_i2c *bus, uint8_t address, uint8_t reg, void *bytes, size_t count);
/// Without a register (I2C_RDWR); 0…32 bytes.
TACTUS_REALTIME int tactus_i2c_plain_write(
    struct tactus_i2c *bus, uint8_t address, const void *bytes, size_t count);
TACTUS_REALTIME int tactus_i2c_plain_read(struct tactus_i2c *bus, uint8_t address, void *bytes, size_t count);

// ---- SPI (spi.c)

/// Opens /dev/spidevB.C and sets mode 0…3, 8 bits a word, most significant first, and the clock. −EINVAL: the driver takes no such
/// setting; −ENOTTY: no SPI device.
int tactus_spi_open(const char *path, uint8_t mode, uint32_t hertz);
/// `count` bytes out of `bytes`, as many in their place.
TACTUS_REALTIME int tactus_spi_exchange(int descriptor, void *bytes, size_t count);

// ---- Serial lines and pseudo-terminals (serial.c)

/// Opens a terminal device without making it the controlling one, nonblocking.
int tactus_serial_open(const char *path);
/// 1 when the kernel writes its messages to the line behind `path`, 0 otherwise.
int tactus_serial_is_console(const char *path);
/// The `index`-th known rate in ascending order, 0 past the last.
int tactus_serial_rate(int index);
/// Raw, 8 data bits, no parity, 1 stop bit, no flow control, at `baud`. −ENOTTY: no terminal. −EINVAL: the driver kept
/// another setting.
int tactus_serial_configure(int descriptor, int baud);
/// Keeps others out: −EBUSY when another process has locked the line.
int tactus_serial_claim(int descriptor);
void tactus_serial_release(int descriptor);
/// Puts behind the descriptor what never polls readable, and takes nothing, as long as the descriptor returned is open; or
/// −errno.
int tactus_serial_detach(int descriptor);
/// Puts behind the descriptor what is behind `by`, and closes `by`. Other threads may be using the descriptor.
void tactus_serial_replace(int descriptor, int by);
/// A pseudo-terminal in raw mode: both descriptors nonblocking, the slave's path (at most `size` bytes) in `path`.
int tactus_pty_open(int *master, int *slave, char *path, size_t size);

/// Bytes taken, 0 when the line's buffer is full.
TACTUS_REALTIME long tactus_serial_write(int descriptor, const void *bytes, size_t count);
/// Bytes read, 0 when nothing waits, −EIO at end of file.
TACTUS_REALTIME long tactus_serial_read(int descriptor, void *bytes, size_t count);

// ---- GPIO (gpio.c): the character device's uAPI v2, Linux 5.10 and later

/// The kernel's 32 bytes, which need not end in a zero, and one.
enum { TACTUS_GPIO_TEXT = 33 };

/// Who a chip is: `gpiochip0`, `pinctrl-bcm2711`, 58.
struct tactus_gpio_chip {
  char name[TACTUS_GPIO_TEXT];
  char label[TACTUS_GPIO_TEXT];
  uint32_t lines;
};

struct tactus_gpio_line {
  char name[TACTUS_GPIO_TEXT];
  /// Who uses it; may be empty also when it is used.
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

/// Opens a chip; a negative result is −errno.
int tactus_gpio_open(const char *path);
int tactus_gpio_chip(int descriptor, struct tactus_gpio_chip *chip);
/// −EINVAL past the last line.
int tactus_gpio_line(int descriptor, uint32_t offset, struct tactus_gpio_line *line);
/// Requests 1…64 lines as outputs, inactive; bit k of `active_low` is the k-th. The lines' descriptor, close-on-exec;
/// −EBUSY when one is in use.
int tactus_gpio_request_outputs(
    int descriptor, const uint32_t *offsets, size_t count, uint64_t active_low, const char *consumer);
/// Requests 1…64 lines as inputs with their edges. The lines' descriptor, close-on-exec, nonblocking; −E2BIG when they
/// differ in more than ten ways.
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

/// What one call of `tactus_gpio_edges` takes at most.
enum { TACTUS_GPIO_BATCH = 64 };

/// Takes up to `capacity` edges; how many, 0 when none wait.
TACTUS_REALTIME long tactus_gpio_edges(
    const struct tactus_gpio_events *events, struct tactus_gpio_edge *edges, size_t capacity);

// ---- PWM (pwm.c): the kernel's attribute files below /sys/class/pwm

/// Opens one for reading and writing; a negative result is −errno.
int tactus_pwm_open(const char *path);
/// Takes the attribute for this descriptor, as `tactus_i2c_claim` takes a chip.
int tactus_pwm_claim(int descriptor);
/// Writes a number, not negative, as the attribute's whole content.
TACTUS_REALTIME int tactus_pwm_set(int descriptor, int64_t value);
/// The number that it shows; −EIO when it shows none.
int tactus_pwm_get(int descriptor, int64_t *value);
/// Opens, writes, closes.
int tactus_pwm_store(const char *path, const char *text);

// ---- UDP (datagram.c)

/// IPv6 or, as ::ffff:a.b.c.d, IPv4: the 16 address bytes as two words in host order.
struct tactus_endpoint {
  uint64_t high;
  uint64_t low;
  uint32_t scope;
  uint16_t port;
};

struct tactus_datagram_socket;

/// Numeric address text, `fe80::1%eth0` included, into the address part of `endpoint`: 4, 6, or −EINVAL.
int tactus_parse_address(const char *text, struct tactus_endpoint *endpoint);
/// Opens, enlarges the receive buffer, binds. `family` is 4 or 6.
int tactus_datagram_open(
    int family, const struct tactus_endpoint *local, int buffer_bytes, struct tactus_datagram_socket **socket);
void tactus_datagram_close(struct tactus_datagram_socket *socket);
int tactus_datagram_descriptor(const struct tactus_datagram_socket *socket);
int tactus_datagram_local(const struct tactus_datagram_socket *socket, struct tactus_endpoint *local);
/// The receive buffer in effect, as the kernel accounts it (twice what was asked for).
int tactus_datagram_buffer(const struct tactus_datagram_socket *socket);

/// What one call of `tactus_datagram_receive` takes at most.
enum { TACTUS_DATAGRAM_BATCH = 64 };

/// Receives up to `capacity` (1…TACTUS_DATAGRAM_BATCH) datagrams with one system call: datagram i cut to `size` bytes at
/// `bytes + i × size`. Returns how many, 0 when none wait.
TACTUS_REALTIME long tactus_datagram_receive(
    struct tactus_datagram_socket *socket, void *bytes, size_t capacity, size_t size);
/// Source and true length of the `index`-th datagram of the last receive.
TACTUS_REALTIME size_t tactus_datagram_header(
    const struct tactus_datagram_socket *socket, size_t index, struct tactus_endpoint *source);
/// When the kernel received the `index`-th datagram of the last receive, in nanoseconds since 1970, UTC; 0 if it does not say.
TACTUS_REALTIME int64_t tactus_datagram_stamp(const struct tactus_datagram_socket *socket, size_t index);
/// 0 or −errno.
TACTUS_REALTIME long tactus_datagram_send(
    struct tactus_datagram_socket *socket, const struct tactus_endpoint *target, const void *bytes, size_t count);
/// Datagrams the kernel threw away since the socket was opened because its buffer was full.
int64_t tactus_datagram_drops(const struct tactus_datagram_socket *socket);

// ---- Errors

/// strerror, in a static text of the C library.
const char *tactus_error_text(int error);
