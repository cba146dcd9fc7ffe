#include "PumpDocuments.h"

// #embed is C23; clang takes it in every version of C, with a warning.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char card_html[] = {
#embed "card.html"
};
static const unsigned char card_js[] = {
#embed "card.js"
};
static const unsigned char german_js[] = {
#embed "german.js"
};
static const unsigned char card_css[] = {
#embed "card.css"
};
static const unsigned char openapi_json[] = {
#embed "openapi.json"
};

struct system_documents pump_documents(void) { return SYSTEM_DOCUMENTS; }
