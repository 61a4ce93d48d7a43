#include "airlock.h"

#include <stdlib.h>
#include <unistd.h>

static airlock_status answer(const airlock_call *call, airlock_reply *reply) {
  (void)call;
  if (fork() == 0) exit(0);
  airlock_text(reply, "%d", system("git status"));
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
