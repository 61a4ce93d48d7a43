#include "airlock.h"

static airlock_status answer(const airlock_call *call, airlock_reply *reply) {
  airlock_text(reply, "%s", call->params);
}

static const airlock_tool tool = {
    .name = "a",
    .label = "A",
    .description = "Has a mistake.",
    .parameters = "{\"type\": \"object\"}",
    .execute = answer,
};

AIRLOCK_TOOLS(&tool);
