// What the service needs of the system's zlib, in plain types.
#pragma once
#include <stddef.h>

/// Compresses bytes into one gzip member (RFC 1952) without a name or a date. Returns its length, or 0 if it does not fit into `capacity`
/// or zlib refuses. `count` and `capacity` are at most UINT_MAX.
size_t compression_gzip(const void *bytes, size_t count, void *gzip, size_t capacity);
