#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/gpio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "CBusesLinux.h"
#include "descriptor.h"

static void copy_text(char target[TACTUS_GPIO_TEXT], const char source[GPIO_MAX_NAME_SIZE]) {
  _Static_assert(TACTUS_GPIO_TEXT > GPIO_MAX_NAME_SIZE, "room for the end of the text");
  memcpy(target, source, GPIO_MAX_NAME_SIZE);
  target[GPIO_MAX_NAME_SIZE] = 0;
}

int tactus_gpio_open(const char *path) {
  int descriptor = above_standard_streams(open_device(path, O_RDWR));
  return descriptor < 0 ? -errno : descriptor;
}

int tactus_gpio_chip(int descriptor, struct tactus_gpio_chip *chip) {
  struct gpiochip_info info = {0};
  if (ioctl(descriptor, GPIO_GET_CHIPINFO_IOCTL, &info) < 0) return -errno;
  copy_text(chip->name, info.name);
  copy_text(chip->label, info.label);
  chip->lines = info.lines;
  return 0;
}

int tactus_gpio_line(int descriptor, uint32_t offset, struct tactus_gpio_line *line) {
  struct gpio_v2_line_info info = {.offset = offset};
  if (ioctl(descriptor, GPIO_V2_GET_LINEINFO_IOCTL, &info) < 0) return -errno;
  copy_text(line->name, info.name);
  copy_text(line->consumer, info.consumer);
  line->is_used = (info.flags & GPIO_V2_LINE_FLAG_USED) != 0;
  line->is_output = (info.flags & GPIO_V2_LINE_FLAG_OUTPUT) != 0;
  line->is_active_low = (info.flags & GPIO_V2_LINE_FLAG_ACTIVE_LOW) != 0;
  return 0;
}

static int request(
    int descriptor, const uint32_t *offsets, size_t count, const char *consumer, struct gpio_v2_line_request *request) {
  if (count < 1 || count > GPIO_V2_LINES_MAX) return -EINVAL;
  memcpy(request->offsets, offsets, count * sizeof *offsets);
  request->num_lines = (uint32_t)count;
  strncpy(request->consumer, consumer, sizeof request->consumer - 1);
  if (ioctl(descriptor, GPIO_V2_GET_LINE_IOCTL, request) < 0) return -errno;
  request->fd = above_standard_streams(request->fd);
  return request->fd < 0 ? -errno : request->fd;
}

static void add_flags(struct gpio_v2_line_config *config, uint64_t flags, uint64_t mask) {
  if (mask == 0) return;
  struct gpio_v2_line_config_attribute *attribute = &config->attrs[config->num_attrs++];
  attribute->attr.id = GPIO_V2_LINE_ATTR_ID_FLAGS;
  attribute->attr.flags = flags;
  attribute->mask = mask;
}

int tactus_gpio_request_outputs(
    int descriptor, const uint32_t *offsets, size_t count, uint64_t active_low, const char *consumer) {
  struct gpio_v2_line_request lines = {.config.flags = GPIO_V2_LINE_FLAG_OUTPUT};
  add_flags(&lines.config, GPIO_V2_LINE_FLAG_OUTPUT | GPIO_V2_LINE_FLAG_ACTIVE_LOW, active_low);
  // Inactive, all of them, from the moment on at which they are outputs: the kernel sets level and direction together.
  struct gpio_v2_line_config_attribute *values = &lines.config.attrs[lines.config.num_attrs++];
  values->attr.id = GPIO_V2_LINE_ATTR_ID_OUTPUT_VALUES;
  values->attr.values = 0;
  values->mask = UINT64_MAX >> (64 - count);
  return request(descriptor, offsets, count, consumer, &lines);
}

static uint64_t input_flags(const struct tactus_gpio_input *input) {
  static const uint64_t pulls[] = {
      [TACTUS_GPIO_AS_IS] = 0,
      [TACTUS_GPIO_PULL_UP] = GPIO_V2_LINE_FLAG_BIAS_PULL_UP,
      [TACTUS_GPIO_PULL_DOWN] = GPIO_V2_LINE_FLAG_BIAS_PULL_DOWN,
      [TACTUS_GPIO_NO_PULL] = GPIO_V2_LINE_FLAG_BIAS_DISABLED,
  };
  return GPIO_V2_LINE_FLAG_INPUT | (input->is_active_low ? GPIO_V2_LINE_FLAG_ACTIVE_LOW : 0) |
         (input->rising ? GPIO_V2_LINE_FLAG_EDGE_RISING : 0) | (input->falling ? GPIO_V2_LINE_FLAG_EDGE_FALLING : 0) |
         pulls[input->pull];
}

int tactus_gpio_request_events(
    int descriptor, const struct tactus_gpio_input *inputs, size_t count, const char *consumer) {
  if (count < 1 || count > GPIO_V2_LINES_MAX) return -EINVAL;
  struct gpio_v2_line_request lines = {.config.flags = input_flags(&inputs[0])};
  uint32_t offsets[GPIO_V2_LINES_MAX];
  uint64_t done_flags = 0;
  uint64_t done_debounce = 0;
  for (size_t index = 0; index < count; index++) {
    offsets[index] = inputs[index].offset;
    uint64_t same_flags = 0;
    uint64_t same_debounce = 0;
    for (size_t other = index; other < count; other++) {
      if (input_flags(&inputs[other]) == input_flags(&inputs[index])) same_flags |= UINT64_C(1) << other;
      if (inputs[other].debounce_us == inputs[index].debounce_us) same_debounce |= UINT64_C(1) << other;
    }
    uint64_t bit = UINT64_C(1) << index;
    // The first line's flags are everybody's default.
    if (!(done_flags & bit) && index > 0) {
      if (lines.config.num_attrs == GPIO_V2_LINE_NUM_ATTRS_MAX) return -E2BIG;
      add_flags(&lines.config, input_flags(&inputs[index]), same_flags);
    }
    if (!(done_debounce & bit) && inputs[index].debounce_us > 0) {
      if (lines.config.num_attrs == GPIO_V2_LINE_NUM_ATTRS_MAX) return -E2BIG;
      struct gpio_v2_line_config_attribute *attribute = &lines.config.attrs[lines.config.num_attrs++];
      attribute->attr.id = GPIO_V2_LINE_ATTR_ID_DEBOUNCE;
      attribute->attr.debounce_period_us = inputs[index].debounce_us;
      attribute->mask = same_debounce;
    }
    done_flags |= same_flags;
    done_debounce |= same_debounce;
  }
  int result = request(descriptor, offsets, count, consumer, &lines);
  if (result < 0) return result;
  int flags = fcntl(result, F_GETFL);
  if (flags < 0 || fcntl(result, F_SETFL, flags | O_NONBLOCK) < 0) {
    int error = errno;
    close(result);
    return -error;
  }
  return result;
}

int tactus_gpio_set(int descriptor, uint64_t mask, uint64_t values) {
  struct gpio_v2_line_values lines = {.bits = values, .mask = mask};
  return ioctl(descriptor, GPIO_V2_LINE_SET_VALUES_IOCTL, &lines) < 0 ? -errno : 0;
}

int tactus_gpio_get(int descriptor, uint64_t mask, uint64_t *values) {
  struct gpio_v2_line_values lines = {.mask = mask};
  if (ioctl(descriptor, GPIO_V2_LINE_GET_VALUES_IOCTL, &lines) < 0) return -errno;
  *values = lines.bits & mask;
  return 0;
}

long tactus_gpio_edges(const struct tactus_gpio_events *events, struct tactus_gpio_edge *edges, size_t capacity) {
  struct gpio_v2_line_event read_events[TACTUS_GPIO_BATCH];
  if (capacity > TACTUS_GPIO_BATCH) capacity = TACTUS_GPIO_BATCH;
  ssize_t size;
  do {
    size = read(events->descriptor, read_events, capacity * sizeof read_events[0]);
  } while (size < 0 && errno == EINTR);
  if (size < 0) return errno == EAGAIN ? 0 : -errno;
  size_t count = (size_t)size / sizeof read_events[0];
  for (size_t index = 0; index < count; index++) {
    uint32_t line = 0;
    while (line + 1 < events->count && events->offsets[line] != read_events[index].offset) line++;
    edges[index].at = (int64_t)read_events[index].timestamp_ns;
    edges[index].line = line;
    edges[index].sequence = read_events[index].line_seqno;
    edges[index].is_rising = read_events[index].id == GPIO_V2_LINE_EVENT_RISING_EDGE;
  }
  return (long)count;
}
