#pragma once
#include "CServiceDocuments.h"

#ifdef __cplusplus
extern "C" {
#endif

struct system_documents plants_documents(void);

#ifdef __cplusplus
}
#endif
