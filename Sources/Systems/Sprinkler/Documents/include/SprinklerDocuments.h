#pragma once
#include "CServiceDocuments.h"

#ifdef __cplusplus
extern "C" {
#endif

struct system_documents sprinkler_documents(void);

#ifdef __cplusplus
}
#endif
