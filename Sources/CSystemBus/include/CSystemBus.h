// D-Bus as libsystemd speaks it. Its functions without variable arguments are all that Swift needs.
#pragma once
#if !__has_include(<systemd/sd-bus.h>)
#error "apt install libsystemd-dev, or build without the trait: swift build --disable-default-traits"
#else
#include <systemd/sd-bus.h>
#endif
