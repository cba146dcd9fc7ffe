#ifdef SYSTEM_BUS
#include "CSystemBus.h"
#endif
