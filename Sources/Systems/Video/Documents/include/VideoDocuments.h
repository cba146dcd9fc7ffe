#pragma once
#include "CServiceDocuments.h"

#ifdef __cplusplus
extern "C" {
#endif

struct system_documents video_documents(void);

#ifdef __cplusplus
}
#endif
