#include "CServiceDocuments.h"

// Each file is named twice below. ServiceDocumentsTests fails when a file of Sources/ServiceDocuments is left out.

// #embed is C23; clang takes it in every version of C, with a warning.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char cards_js[] = {
#embed "../ServiceDocuments/Console/cards.js"
};
static const unsigned char console_css[] = {
#embed "../ServiceDocuments/Console/console.css"
};
static const unsigned char console_js[] = {
#embed "../ServiceDocuments/Console/console.js"
};
static const unsigned char help_js[] = {
#embed "../ServiceDocuments/Console/help.js"
};
static const unsigned char parts_js[] = {
#embed "../ServiceDocuments/Console/parts.js"
};
static const unsigned char clients_js[] = {
#embed "../ServiceDocuments/Console/clients.js"
};
static const unsigned char timing_js[] = {
#embed "../ServiceDocuments/Console/timing.js"
};
static const unsigned char worker_js[] = {
#embed "../ServiceDocuments/Console/worker.js"
};
static const unsigned char polling_js[] = {
#embed "../ServiceDocuments/Console/polling.js"
};
static const unsigned char index_html[] = {
#embed "../ServiceDocuments/Console/index.html"
};
static const unsigned char logs_js[] = {
#embed "../ServiceDocuments/Console/logs.js"
};
static const unsigned char later_js[] = {
#embed "../ServiceDocuments/Console/later.js"
};
static const unsigned char loops_js[] = {
#embed "../ServiceDocuments/Console/loops.js"
};
static const unsigned char say_js[] = {
#embed "../ServiceDocuments/Console/say.js"
};
static const unsigned char stop_js[] = {
#embed "../ServiceDocuments/Console/stop.js"
};
static const unsigned char systems_js[] = {
#embed "../ServiceDocuments/Console/systems.js"
};
static const unsigned char charts_js[] = {
#embed "../ServiceDocuments/Console/charts.js"
};
static const unsigned char timeline_js[] = {
#embed "../ServiceDocuments/Console/timeline.js"
};
static const unsigned char calendar_js[] = {
#embed "../ServiceDocuments/Console/calendar.js"
};
static const unsigned char bars_js[] = {
#embed "../ServiceDocuments/Console/bars.js"
};
static const unsigned char zoom_js[] = {
#embed "../ServiceDocuments/Console/zoom.js"
};
static const unsigned char curves_js[] = {
#embed "../ServiceDocuments/Console/curves.js"
};
static const unsigned char icon_svg[] = {
#embed "../ServiceDocuments/Console/icon.svg"
};
static const unsigned char icon_180_png[] = {
#embed "../ServiceDocuments/Console/icon-180.png"
};
static const unsigned char icon_192_png[] = {
#embed "../ServiceDocuments/Console/icon-192.png"
};
static const unsigned char icon_512_png[] = {
#embed "../ServiceDocuments/Console/icon-512.png"
};
static const unsigned char manifest_webmanifest[] = {
#embed "../ServiceDocuments/Console/manifest.webmanifest"
};
static const unsigned char views_js[] = {
#embed "../ServiceDocuments/Console/views.js"
};
static const unsigned char words_js[] = {
#embed "../ServiceDocuments/Console/words.js"
};
static const unsigned char early_js[] = {
#embed "../ServiceDocuments/Console/early.js"
};
static const unsigned char german_js[] = {
#embed "../ServiceDocuments/Console/german.js"
};
static const unsigned char language_js[] = {
#embed "../ServiceDocuments/Console/language.js"
};
static const unsigned char dashboard_json[] = {
#embed "../ServiceDocuments/grafana-dashboard.json"
};
static const unsigned char openapi_json[] = {
#embed "../ServiceDocuments/openapi.json"
};

static const struct service_document documents[] = {
  {"Console/cards.js", cards_js, sizeof cards_js},
  {"Console/console.css", console_css, sizeof console_css},
  {"Console/console.js", console_js, sizeof console_js},
  {"Console/help.js", help_js, sizeof help_js},
  {"Console/parts.js", parts_js, sizeof parts_js},
  {"Console/clients.js", clients_js, sizeof clients_js},
  {"Console/timing.js", timing_js, sizeof timing_js},
  {"Console/worker.js", worker_js, sizeof worker_js},
  {"Console/polling.js", polling_js, sizeof polling_js},
  {"Console/index.html", index_html, sizeof index_html},
  {"Console/logs.js", logs_js, sizeof logs_js},
  {"Console/later.js", later_js, sizeof later_js},
  {"Console/loops.js", loops_js, sizeof loops_js},
  {"Console/say.js", say_js, sizeof say_js},
  {"Console/stop.js", stop_js, sizeof stop_js},
  {"Console/systems.js", systems_js, sizeof systems_js},
  {"Console/charts.js", charts_js, sizeof charts_js},
  {"Console/timeline.js", timeline_js, sizeof timeline_js},
  {"Console/calendar.js", calendar_js, sizeof calendar_js},
  {"Console/bars.js", bars_js, sizeof bars_js},
  {"Console/zoom.js", zoom_js, sizeof zoom_js},
  {"Console/curves.js", curves_js, sizeof curves_js},
  {"Console/icon.svg", icon_svg, sizeof icon_svg},
  {"Console/icon-180.png", icon_180_png, sizeof icon_180_png},
  {"Console/icon-192.png", icon_192_png, sizeof icon_192_png},
  {"Console/icon-512.png", icon_512_png, sizeof icon_512_png},
  {"Console/manifest.webmanifest", manifest_webmanifest, sizeof manifest_webmanifest},
  {"Console/views.js", views_js, sizeof views_js},
  {"Console/words.js", words_js, sizeof words_js},
  {"Console/early.js", early_js, sizeof early_js},
  {"Console/german.js", german_js, sizeof german_js},
  {"Console/language.js", language_js, sizeof language_js},
  {"grafana-dashboard.json", dashboard_json, sizeof dashboard_json},
  {"openapi.json", openapi_json, sizeof openapi_json},
};

const struct service_document *service_documents(size_t *count) {
  *count = sizeof documents / sizeof *documents;
  return documents;
}
