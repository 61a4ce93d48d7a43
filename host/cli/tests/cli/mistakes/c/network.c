#include "airlock.h"

#include <sys/socket.h>

static airlock_status answer(const airlock_call *call, airlock_reply *reply) {
  (void)call;
  airlock_text(reply, "%d", socket(AF_INET, SOCK_STREAM, 0));
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
