#include "CBusesLinux.h"
