#pragma once
#include "CServiceDocuments.h"

#ifdef __cplusplus
extern "C" {
#endif

struct system_documents leg_documents(void);

#ifdef __cplusplus
}
#endif
