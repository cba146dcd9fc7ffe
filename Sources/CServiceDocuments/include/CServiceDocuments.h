// The files that the service serves, built into the program.
#pragma once
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/// An embedded file.
struct service_document {
  /// The path of the file below the folder from which it is embedded: Sources/ServiceDocuments or Sources/Systems/NAME/Documents.
  const char *name;
  /// The content of the file: `count` bytes, valid as long as the program runs, without a final zero.
  const unsigned char *bytes;
  size_t count;
};

/// The documents of one system: see SystemDocuments.swift.
struct system_documents {
  struct service_document card, script, german, style, api;
};

/// Builds the structure from the arrays that a system's documents.c has embedded. A missing array is a compile error.
#define SYSTEM_DOCUMENTS                               \
  (struct system_documents) {                          \
    {"card.html", card_html, sizeof card_html},        \
    {"card.js", card_js, sizeof card_js},              \
    {"german.js", german_js, sizeof german_js},        \
    {"card.css", card_css, sizeof card_css},           \
    {"openapi.json", openapi_json, sizeof openapi_json}, \
  }

/// Returns every file, and writes their number to `count`.
const struct service_document *service_documents(size_t *count);

#ifdef __cplusplus
}
#endif
