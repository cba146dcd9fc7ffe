#include "adopt.h"

// A test process has no main of ours in which a program begins.
__attribute__((constructor)) static void adopt(void) { adopt_tested_program(); }
