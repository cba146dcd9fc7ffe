#pragma once
#include "CServiceDocuments.h"

#ifdef __cplusplus
extern "C" {
#endif

struct system_documents pump_documents(void);

#ifdef __cplusplus
}
#endif
