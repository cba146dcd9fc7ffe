#define _GNU_SOURCE
#include "CTactus.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static locale_t c_locale;

// Runs before main, so that no tick ever creates the locale.
__attribute__((constructor)) static void create_c_locale(void) {
  c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

double tactus_parse_double(const char *text, size_t length) {
  char copy[1025];
  if (length == 0 || length >= sizeof copy) return NAN;
  memcpy(copy, text, length);
  copy[length] = 0;
  char *end;
  double value = strtod_l(copy, &end, c_locale);
  return end == copy + length ? value : NAN;
}
