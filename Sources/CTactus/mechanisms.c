// Switches of safety mechanisms, for tests of debug builds: see Sources/Tactus/Safety/Mechanism.swift. Other builds have nothing of this.
#ifdef MECHANISM_SWITCHES
#include "CTactus.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Written before main alone.
static uint8_t removed[256];

int32_t tactus_mechanism_acts(uint8_t mechanism) { return !removed[mechanism]; }

void tactus_mechanism_remove(uint8_t mechanism) { removed[mechanism] = 1; }

static void say(const char *text) {
  ssize_t ignored = write(STDERR_FILENO, text, strlen(text));
  (void)ignored;
}

void tactus_mechanisms_refuse(const char *text) {
  say(text);
  _exit(64);
}

// In Tactus.
extern void tactus_mechanisms_remove(const char *names) __attribute__((weak));

// Before the guard's own (Sources/CTactusGuard/takeover.c), which does not come back.
__attribute__((constructor(200))) static void read_switches(void) {
  const char *names = getenv("TACTUS_WITHOUT");
  if (!names || !names[0] || !tactus_mechanisms_remove) return;
  tactus_mechanisms_remove(names);
  say("TACTUS_WITHOUT: this process does without safety mechanisms: ");
  say(names);
  say("\n");
}
#endif
