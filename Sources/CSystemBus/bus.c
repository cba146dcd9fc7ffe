#ifdef BONJOUR
#include "CSystemBus.h"
#endif
