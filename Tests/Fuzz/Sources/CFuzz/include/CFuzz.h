// libFuzzer's entry, which LLVM ships no header for.
#pragma once
#include <stddef.h>
#include <stdint.h>

/// Runs `take` on inputs until the arguments say that it is enough. Returns the exit status.
int LLVMFuzzerRunDriver(
    int *_Nonnull count, char *_Nullable *_Nonnull *_Nonnull arguments,
    int (*_Nonnull take)(const uint8_t *_Nullable bytes, size_t count));

/// Messages to a spawner, one after the other: each a byte with its length, one with the number of its descriptors, and itself. Returns what is
/// wrong with what became of them; NULL if nothing is.
const char *_Nullable fuzz_spawner_requests(const uint8_t *_Nullable bytes, size_t count);

/// A spawner's reply: the number of the request, the number of descriptors, whether one may come, and the message.
const char *_Nullable fuzz_spawner_reply(const uint8_t *_Nullable bytes, size_t count);
