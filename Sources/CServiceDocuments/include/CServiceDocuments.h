// The files that the service serves as they are, built into the program.
#pragma once
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/// One file.
struct service_document {
  /// Its path below Sources/ServiceDocuments.
  const char *name;
  /// What it holds: `count` bytes, which are there as long as the program, and no zero behind them.
  const unsigned char *bytes;
  size_t count;
};

/// Every file. Writes their number to `count`.
const struct service_document *service_documents(size_t *count);

#ifdef __cplusplus
}
#endif
