// The files that the service serves, built into the program.
#pragma once
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/// One file.
struct service_document {
  /// Its path below the folder that it is built in from: Sources/ServiceDocuments, Sources/Systems/NAME/Documents.
  const char *name;
  /// What it holds: `count` bytes, which are there as long as the program, and no zero behind them.
  const unsigned char *bytes;
  size_t count;
};

/// What one system adds to them: see SystemDocuments.swift.
struct system_documents {
  struct service_document card, script, style, api, dashboard;
};

/// Of the arrays that a system's documents.c has embedded: one that is missing does not compile.
#define SYSTEM_DOCUMENTS                               \
  (struct system_documents) {                          \
    {"card.html", card_html, sizeof card_html},        \
    {"card.js", card_js, sizeof card_js},              \
    {"card.css", card_css, sizeof card_css},           \
    {"openapi.json", openapi_json, sizeof openapi_json}, \
    {"dashboard.json", dashboard_json, sizeof dashboard_json}, \
  }

/// Every file. Writes their number to `count`.
const struct service_document *service_documents(size_t *count);

#ifdef __cplusplus
}
#endif
