// Tells ThreadSanitizer of what it cannot see by itself; scripts/sanitizers links it into every program that it builds for it. Its options
// and suppressions are here as well: a child that a daemon starts inherits no TSAN_OPTIONS.
//
// ThreadSanitizer learns what is ordered before what from the atomics of code that is compiled with it and from the calls of libc and
// libdispatch that it intercepts. Two ways to order accesses are neither:
//
// - `Mutex` of the module Synchronization takes a free lock with atomics that are inlined into our code. One that is held is waited for inside
//   libswiftSynchronization, which is not compiled with ThreadSanitizer.
// - glibc's `eventfd_write` and `eventfd_read` make their system call themselves. ThreadSanitizer intercepts `write` and `read`.
//
// The functions of Swift below have their calling convention, and stand in the places of those that the program would call. There is a third
// way that cannot be told of so: the library of Swift calls libdispatch for `DispatchQueue.sync` so that nothing is intercepted, and our code
// calls it through a class's table. What is behind it is in thread.supp.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

void __tsan_acquire(void *address) __attribute__((weak));
void __tsan_release(void *address) __attribute__((weak));

const char *__tsan_default_options(void);
const char *__tsan_default_options(void) { return "history_size=4"; }

const char *__tsan_default_suppressions(void);
const char *__tsan_default_suppressions(void) {
  static const char text[] = {
#embed "thread.supp" suffix(, 0)
  };
  return text;
}

static void acquire(void *address) {
  if (__tsan_acquire) __tsan_acquire(address);
}

static void release(void *address) {
  if (__tsan_release) __tsan_release(address);
}

#define SWIFT __attribute__((swiftcall))
// The object of a method.
#define SELF __attribute__((swift_context)) void *self

#define LOCK_SLOW "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define TRY_LOCK_SLOW "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
#define UNLOCK_SLOW "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

// Synchronization._MutexHandle, whose only word is the lock: our code's atomics are at the address of `self`, too.
SWIFT void lock_slow(uint32_t thread, SELF) __asm__(LOCK_SLOW);
SWIFT bool try_lock_slow(SELF) __asm__(TRY_LOCK_SLOW);
SWIFT void unlock_slow(SELF) __asm__(UNLOCK_SLOW);

// Before any thread. A program has those that it uses.
static void *next[3];
__attribute__((constructor)) static void find(void) {
  const char *names[] = {LOCK_SLOW, TRY_LOCK_SLOW, UNLOCK_SLOW};
  for (int index = 0; index < 3; index++) next[index] = dlsym(RTLD_NEXT, names[index]);
}

SWIFT void lock_slow(uint32_t thread, SELF) {
  ((SWIFT void (*)(uint32_t, SELF))next[0])(thread, self);
  acquire(self);
}

SWIFT bool try_lock_slow(SELF) {
  bool locked = ((SWIFT bool (*)(SELF))next[1])(self);
  if (locked) acquire(self);
  return locked;
}

SWIFT void unlock_slow(SELF) {
  release(self);
  ((SWIFT void (*)(SELF))next[2])(self);
}

int eventfd_write(int descriptor, eventfd_t value) {
  return write(descriptor, &value, sizeof value) == sizeof value ? 0 : -1;
}

int eventfd_read(int descriptor, eventfd_t *value) {
  return read(descriptor, value, sizeof *value) == sizeof *value ? 0 : -1;
}
