#if !__has_include(<i2c/smbus.h>)
#error "libi2c's header is missing: apt install libi2c-dev"
#endif

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <i2c/smbus.h>
#include <linux/i2c-dev.h>
#include <linux/i2c.h>
#include <sys/ioctl.h>
#include <time.h>

#include "CBusesLinux.h"
#include "descriptor.h"

int tactus_i2c_open(const char *path) {
  int descriptor = above_standard_streams(open_device(path, O_RDWR));
  return descriptor < 0 ? -errno : descriptor;
}

int tactus_i2c_claim(int descriptor, uint8_t address) { return claim_place(descriptor, address); }

int tactus_i2c_functions(int descriptor) {
  unsigned long functions = 0;
  if (ioctl(descriptor, I2C_FUNCS, &functions) < 0) return -errno;
  return (functions & I2C_FUNC_SMBUS_WRITE_BYTE_DATA ? TACTUS_I2C_WRITE_BYTE : 0) |
         (functions & I2C_FUNC_SMBUS_WRITE_I2C_BLOCK ? TACTUS_I2C_WRITE_BLOCK : 0) |
         (functions & I2C_FUNC_SMBUS_READ_I2C_BLOCK ? TACTUS_I2C_READ_BLOCK : 0) |
         (functions & I2C_FUNC_I2C ? TACTUS_I2C_PLAIN : 0);
}

int tactus_i2c_bound(int descriptor) {
  // The coarse clock steps once a timer tick. The kernel waits between n − 1 and n ticks, so on a kernel of 100 ticks a
  // second a bound of 10 ms could be none at all.
  struct timespec tick = {0};
  clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
  unsigned long tens_of_milliseconds = tick.tv_nsec > 5000000 ? 2 : 1;
  if (ioctl(descriptor, I2C_TIMEOUT, tens_of_milliseconds) < 0) return -errno;
  if (ioctl(descriptor, I2C_RETRIES, 0UL) < 0) return -errno;
  return 0;
}

int tactus_i2c_select(struct tactus_i2c *bus, uint8_t address) {
  if (bus->selected == address) return 0;
  if (ioctl(bus->descriptor, I2C_SLAVE, (unsigned long)address) < 0) return -errno;
  bus->selected = address;
  return 0;
}

int tactus_i2c_write_byte(struct tactus_i2c *bus, uint8_t address, uint8_t reg, uint8_t value) {
  int result = tactus_i2c_select(bus, address);
  return result < 0 ? result : i2c_smbus_write_byte_data(bus->descriptor, reg, value);
}

int tactus_i2c_write_block(
    struct tactus_i2c *bus, uint8_t address, uint8_t reg, const void *bytes, size_t count) {
  if (count < 1 || count > I2C_SMBUS_BLOCK_MAX) return -EINVAL;
  int result = tactus_i2c_select(bus, address);
  return result < 0 ? result : i2c_smbus_write_i2c_block_data(bus->descriptor, reg, (uint8_t)count, bytes);
}

int tactus_i2c_read_block(
    struct tactus_i2c *bus, uint8_t address, uint8_t reg, void *bytes, size_t count) {
  if (count < 1 || count > I2C_SMBUS_BLOCK_MAX) return -EINVAL;
  int result = tactus_i2c_select(bus, address);
  if (result < 0) return result;
  result = i2c_smbus_read_i2c_block_data(bus->descriptor, reg, (uint8_t)count, bytes);
  if (result < 0) return result;
  return (size_t)result == count ? 0 : -EPROTO;
}

static int plain(struct tactus_i2c *bus, uint8_t address, uint16_t flags, void *bytes, size_t count) {
  if (count > I2C_SMBUS_BLOCK_MAX) return -EINVAL;
  struct i2c_msg message = {.addr = address, .flags = flags, .len = (uint16_t)count, .buf = bytes};
  struct i2c_rdwr_ioctl_data transfer = {.msgs = &message, .nmsgs = 1};
  return ioctl(bus->descriptor, I2C_RDWR, &transfer) < 0 ? -errno : 0;
}

int tactus_i2c_plain_write(struct tactus_i2c *bus, uint8_t address, const void *bytes, size_t count) {
  return plain(bus, address, 0, (void *)bytes, count);
}

int tactus_i2c_plain_read(struct tactus_i2c *bus, uint8_t address, void *bytes, size_t count) {
  return plain(bus, address, I2C_M_RD, bytes, count);
}
