#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/spi/spidev.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "CBusesLinux.h"
#include "descriptor.h"

int tactus_spi_open(const char *path, uint8_t mode, uint32_t hertz) {
  int descriptor = above_standard_streams(open_device(path, O_RDWR));
  if (descriptor < 0) return -errno;
  uint8_t bits = 8;
  if (ioctl(descriptor, SPI_IOC_WR_MODE, &mode) < 0 || ioctl(descriptor, SPI_IOC_WR_BITS_PER_WORD, &bits) < 0 ||
      ioctl(descriptor, SPI_IOC_WR_MAX_SPEED_HZ, &hertz) < 0) {
    int error = errno;
    close(descriptor);
    return -error;
  }
  return descriptor;
}

int tactus_spi_exchange(int descriptor, void *bytes, size_t count) {
  struct spi_ioc_transfer transfer;
  memset(&transfer, 0, sizeof transfer);
  transfer.tx_buf = (uintptr_t)bytes;
  transfer.rx_buf = (uintptr_t)bytes;
  transfer.len = (uint32_t)count;
  return ioctl(descriptor, SPI_IOC_MESSAGE(1), &transfer) < 0 ? -errno : 0;
}
