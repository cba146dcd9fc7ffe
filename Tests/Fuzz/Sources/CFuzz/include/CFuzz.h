// libFuzzer's entry, which LLVM ships no header for.
#pragma once
#include <stddef.h>
#include <stdint.h>

/// Runs `take` on inputs until the arguments say that it is enough. Returns the exit status.
int LLVMFuzzerRunDriver(
    int *_Nonnull count, char *_Nullable *_Nonnull *_Nonnull arguments,
    int (*_Nonnull take)(const uint8_t *_Nullable bytes, size_t count));
