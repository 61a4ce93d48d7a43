#include "airlock.h"

#include <zlib.h>

static airlock_status answer(const airlock_call *call, airlock_reply *reply) {
  (void)call;
  airlock_text(reply, "%s", zlibVersion());
  return AIRLOCK_OK;
}

static const airlock_tool tool = {
    .name = "a",
    .label = "A",
    .description = "Has a mistake.",
    .parameters = "{\"type\": \"object\"}",
    .execute = answer,
};

AIRLOCK_TOOLS(&tool);
