// What AddressSanitizer does unless told otherwise; scripts/sanitizers links it into every program that it builds for it. A confined process has no
// ASAN_OPTIONS, since it inherits no environment, and may not trace itself, which the search for leaks at its end does.
const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "detect_leaks=0"; }
