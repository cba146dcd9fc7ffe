// A Raspberry Pi's I2C adapter and GPIO header for a program and its guard, without either: a library in place of libi2c, found by
// LD_LIBRARY_PATH, which the guard keeps of its program's environment.
//
// In place of /dev/i2c-* a bus with chips that remember every register, in place of /dev/gpiochip0 a header of 28 lines. Whatever is
// written is noted with the instant (CLOCK_MONOTONIC) and the process in a file beside the library, `journal`, which outlives both.
// hardware.py reads it and says what is on. As in the kernel, lines belong to whoever has a descriptor of their request open.
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/gpio.h>
#include <linux/i2c-dev.h>
#include <linux/i2c.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { REQUESTS = 8, ENTRIES = 32768, LINES = 28 };
enum { REGISTERS_AT = 64, REQUESTS_AT = 40960, ENTRIES_AT = 65536 };
enum { I2C_WRITE = 1, LINES_SET = 2 };

// Instants in nanoseconds. `hung`: the process whose writes to the bus do not end while it stands there.
struct head {
  uint32_t next;
  int32_t hung;
  int32_t hanging;
};
struct request {
  uint32_t count, offsets[64];
  uint64_t active_low, values;
};
struct entry {
  int64_t at;
  int32_t process;
  uint8_t kind, address, first, count, bytes[32];
  uint64_t mask, values;
};

static struct head *head;
static uint8_t (*registers)[256];
static struct request *requests;
static struct entry *entries;
static char folder[4000];
static ino_t files[REQUESTS];
static DIR *devices;
static struct dirent *(*next_entry)(DIR *);
static int chip_told;

static int system_open(const char *path, int flags, unsigned mode) {
  return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

static void journal_path(char *path, size_t size) { snprintf(path, size, "%s/journal", folder); }

static void request_path(char *path, size_t size, int number) { snprintf(path, size, "%s/lines%d", folder, number); }

__attribute__((constructor)) static void attach(void) {
  Dl_info info;
  char path[4096];
  next_entry = (struct dirent * (*)(DIR *)) dlsym(RTLD_NEXT, "readdir");
  if (!dladdr((void *)attach, &info) || next_entry == NULL) abort();
  snprintf(folder, sizeof folder, "%s", info.dli_fname);
  *strrchr(folder, '/') = 0;
  journal_path(path, sizeof path);
  int descriptor = system_open(path, O_RDWR | O_CLOEXEC, 0);
  size_t size = ENTRIES_AT + ENTRIES * sizeof(struct entry);
  char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (descriptor < 0 || memory == MAP_FAILED) abort();
  close(descriptor);
  head = (struct head *)memory;
  registers = (uint8_t(*)[256])(memory + REGISTERS_AT);
  requests = (struct request *)(memory + REQUESTS_AT);
  entries = (struct entry *)(memory + ENTRIES_AT);
  for (int number = 0; number < REQUESTS; number++) {
    struct stat found;
    request_path(path, sizeof path, number);
    if (stat(path, &found) == 0) files[number] = found.st_ino;
  }
}

static void note(struct entry entry) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  entry.at = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
  entry.process = getpid();
  entries[__atomic_fetch_add(&head->next, 1, __ATOMIC_ACQ_REL) % ENTRIES] = entry;
}

// The kernel's driver does not come back.
static void hang(void) {
  while (head->hung == getpid()) {
    head->hanging = 1;
    usleep(1000);
  }
}

// The bus. `selected`: by descriptor, as I2C_SLAVE is.
static uint8_t selected[1024];

static int write_chip(uint8_t address, uint8_t first, uint8_t count, const uint8_t *bytes) {
  hang();
  struct entry entry = {.kind = I2C_WRITE, .address = address, .first = first, .count = count};
  memcpy(entry.bytes, bytes, count);
  for (int index = 0; index < count; index++) registers[address & 0x7F][(uint8_t)(first + index)] = bytes[index];
  note(entry);
  return 0;
}

static uint8_t address_of(int descriptor) { return selected[descriptor & 1023]; }

int32_t i2c_smbus_write_byte_data(int descriptor, uint8_t command, uint8_t value) {
  return write_chip(address_of(descriptor), command, 1, &value);
}

int32_t i2c_smbus_write_i2c_block_data(int descriptor, uint8_t command, uint8_t length, const uint8_t *values) {
  return write_chip(address_of(descriptor), command, length > 32 ? 32 : length, values);
}

int32_t i2c_smbus_read_i2c_block_data(int descriptor, uint8_t command, uint8_t length, uint8_t *values) {
  hang();
  for (int index = 0; index < length; index++) {
    values[index] = registers[address_of(descriptor) & 0x7F][(uint8_t)(command + index)];
  }
  return length;
}

static int plain(struct i2c_rdwr_ioctl_data *transfer) {
  hang();
  for (uint32_t index = 0; index < transfer->nmsgs; index++) {
    struct i2c_msg *message = &transfer->msgs[index];
    if (message->flags & I2C_M_RD) {
      memcpy(message->buf, registers[message->addr & 0x7F], message->len);
    } else if (message->len > 0 && message->len <= 33) {
      write_chip((uint8_t)message->addr, message->buf[0], (uint8_t)(message->len - 1), message->buf + 1);
    }
  }
  return (int)transfer->nmsgs;
}

// The lines.
static int is_held(int number) {
  char path[4096];
  request_path(path, sizeof path, number);
  int descriptor = system_open(path, O_RDWR | O_CLOEXEC, 0);
  if (descriptor < 0) return 0;
  int held = flock(descriptor, LOCK_EX | LOCK_NB) < 0;
  close(descriptor);
  return held;
}

static int is_used(uint32_t offset) {
  for (int number = 0; number < REQUESTS; number++) {
    for (uint32_t index = 0; index < requests[number].count; index++) {
      if (requests[number].offsets[index] == offset && is_held(number)) return 1;
    }
  }
  return 0;
}

static void note_lines(const struct request *request, uint64_t mask, uint64_t values) {
  struct entry entry = {.kind = LINES_SET};
  for (uint32_t index = 0; index < request->count; index++) {
    if (!(mask >> index & 1)) continue;
    entry.mask |= UINT64_C(1) << request->offsets[index];
    if (values >> index & 1) entry.values |= UINT64_C(1) << request->offsets[index];
  }
  note(entry);
}

static int request_lines(struct gpio_v2_line_request *wanted) {
  for (uint32_t index = 0; index < wanted->num_lines; index++) {
    if (wanted->offsets[index] >= LINES) return errno = EINVAL, -1;
    if (is_used(wanted->offsets[index])) return errno = EBUSY, -1;
  }
  for (int number = 0; number < REQUESTS; number++) {
    char path[4096];
    request_path(path, sizeof path, number);
    int descriptor = system_open(path, O_RDWR | O_CLOEXEC, 0);
    if (descriptor < 0) return -1;
    if (flock(descriptor, LOCK_EX | LOCK_NB) < 0) {
      close(descriptor);
      continue;
    }
    requests[number] = (struct request){.count = wanted->num_lines};
    memcpy(requests[number].offsets, wanted->offsets, sizeof wanted->offsets);
    // Inactive, as the program asks for.
    if (wanted->config.flags & GPIO_V2_LINE_FLAG_OUTPUT) note_lines(&requests[number], UINT64_MAX, 0);
    wanted->fd = descriptor;
    return 0;
  }
  return errno = EBUSY, -1;
}

static struct request *request_of(int descriptor) {
  struct stat found;
  if (fstat(descriptor, &found) < 0) return NULL;
  for (int number = 0; number < REQUESTS; number++) {
    if (files[number] == found.st_ino) return &requests[number];
  }
  return NULL;
}

static int line_values(int descriptor, struct gpio_v2_line_values *values, int is_set) {
  struct request *request = request_of(descriptor);
  if (request == NULL) return errno = EBADF, -1;
  if (is_set) {
    request->values = (request->values & ~values->mask) | (values->bits & values->mask);
    note_lines(request, values->mask, values->bits);
  } else {
    values->bits = request->values & values->mask;
  }
  return 0;
}

static int line_info(struct gpio_v2_line_info *info) {
  if (info->offset >= LINES) return errno = EINVAL, -1;
  snprintf(info->name, sizeof info->name, "GPIO%u", info->offset);
  info->flags = is_used(info->offset) ? GPIO_V2_LINE_FLAG_USED | GPIO_V2_LINE_FLAG_OUTPUT : GPIO_V2_LINE_FLAG_INPUT;
  return 0;
}

int ioctl(int descriptor, unsigned long operation, ...) {
  va_list list;
  va_start(list, operation);
  void *argument = va_arg(list, void *);
  va_end(list);
  switch (operation) {
    case I2C_FUNCS: *(unsigned long *)argument = I2C_FUNC_I2C | I2C_FUNC_SMBUS_BYTE_DATA | I2C_FUNC_SMBUS_I2C_BLOCK; return 0;
    case I2C_SLAVE: selected[descriptor & 1023] = (uint8_t)(uintptr_t)argument; return 0;
    case I2C_TIMEOUT:
    case I2C_RETRIES: return 0;
    case I2C_RDWR: return plain(argument);
    case GPIO_GET_CHIPINFO_IOCTL: {
      struct gpiochip_info *info = argument;
      *info = (struct gpiochip_info){.name = "gpiochip0", .label = "pinctrl-bcm2711", .lines = LINES};
      return 0;
    }
    case GPIO_V2_GET_LINEINFO_IOCTL: return line_info(argument);
    case GPIO_V2_GET_LINE_IOCTL: return request_lines(argument);
    case GPIO_V2_LINE_SET_VALUES_IOCTL: return line_values(descriptor, argument, 1);
    case GPIO_V2_LINE_GET_VALUES_IOCTL: return line_values(descriptor, argument, 0);
    default: return (int)syscall(SYS_ioctl, descriptor, operation, argument);
  }
}

// The nodes. An adapter is the journal, whose bytes can be locked, as those of a device can, by the programs of one bench.
int open(const char *path, int flags, ...) {
  unsigned mode = 0;
  if (flags & (O_CREAT | O_TMPFILE)) {
    va_list list;
    va_start(list, flags);
    mode = va_arg(list, unsigned);
    va_end(list);
  }
  if (strcmp(path, "/dev/gpiochip0") == 0) return system_open("/dev/null", flags, mode);
  if (strncmp(path, "/dev/i2c-", 9) != 0) return system_open(path, flags, mode);
  char journal[4096];
  journal_path(journal, sizeof journal);
  return system_open(journal, flags, 0);
}

DIR *opendir(const char *path) {
  DIR *(*real)(const char *) = (DIR * (*)(const char *)) dlsym(RTLD_NEXT, "opendir");
  DIR *stream = real(path);
  if (stream != NULL && strcmp(path, "/dev") == 0) devices = stream, chip_told = 0;
  return stream;
}

struct dirent *readdir(DIR *stream) {
  static struct dirent chip = {.d_type = DT_CHR, .d_name = "gpiochip0"};
  if (stream != devices) return next_entry(stream);
  if (!chip_told) return chip_told = 1, &chip;
  struct dirent *entry;
  while ((entry = next_entry(stream)) != NULL && strncmp(entry->d_name, "gpiochip", 8) == 0) {
  }
  if (entry == NULL) devices = NULL;
  return entry;
}
