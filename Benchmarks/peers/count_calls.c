// LD_PRELOAD library: counts the process's calls of the allocator and of the C library's locks.
// A program reads the counts with dlsym(RTLD_DEFAULT, "counted_allocations" | "counted_locks").
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

static atomic_long allocations, locks;

long counted_allocations(void) { return atomic_load(&allocations); }
long counted_locks(void) { return atomic_load(&locks); }

// The C library's own entry points: no dlsym, which allocates.
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

#define COUNT(counter) atomic_fetch_add_explicit(&counter, 1, memory_order_relaxed)

void *malloc(size_t size) {
  COUNT(allocations);
  return __libc_malloc(size);
}
void *calloc(size_t count, size_t size) {
  COUNT(allocations);
  return __libc_calloc(count, size);
}
void *realloc(void *block, size_t size) {
  COUNT(allocations);
  return __libc_realloc(block, size);
}
void free(void *block) {
  if (block != NULL) COUNT(allocations);
  __libc_free(block);
}
void *memalign(size_t alignment, size_t size) {
  COUNT(allocations);
  return __libc_memalign(alignment, size);
}
void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }
int posix_memalign(void **block, size_t alignment, size_t size) {
  *block = memalign(alignment, size);
  return *block == NULL ? 12 : 0;
}

#define COUNT_LOCK(name, type)                                  \
  int name(type *lock) {                                        \
    static int (*next)(type *);                                 \
    if (next == NULL) next = (int (*)(type *))dlsym(RTLD_NEXT, #name); \
    COUNT(locks);                                               \
    return next(lock);                                          \
  }

COUNT_LOCK(pthread_mutex_lock, pthread_mutex_t)
COUNT_LOCK(pthread_mutex_trylock, pthread_mutex_t)
COUNT_LOCK(pthread_rwlock_rdlock, pthread_rwlock_t)
COUNT_LOCK(pthread_rwlock_wrlock, pthread_rwlock_t)
COUNT_LOCK(pthread_spin_lock, pthread_spinlock_t)
COUNT_LOCK(sem_wait, sem_t)
COUNT_LOCK(sem_post, sem_t)
