/* The tool `failures`: fails in the way that it is asked for, to show what the host makes of it. */
#include <stdlib.h>
#include <string.h>

#include "airlock.h"

/* Values that the compiler takes for used. */
static volatile unsigned char sink;

static unsigned recurse(unsigned depth) {
  volatile unsigned char frame[1024];
  frame[depth % sizeof frame] = (unsigned char)depth;
  unsigned below = recurse(depth + 1);
  return below + frame[depth % sizeof frame];
}

static void eat_memory(void) {
  for (;;) {
    unsigned char *block = malloc(1 << 20);
    if (!block) abort();
    memset(block, 1, 1 << 20);
    sink = block[0];
  }
}

static void divide_by_zero(void) {
  volatile int one = 1, zero = 0;
  sink = (unsigned char)(one / zero);
}

static airlock_status fail(const airlock_call *call, airlock_reply *reply) {
  const cJSON *params = airlock_parse(call->params, call->params_length);
  const char *how = cJSON_GetStringValue(cJSON_GetObjectItem(params, "how"));

  if (strcmp(how, "tool-error") == 0) return airlock_tool_error(reply, "this is what the tool wants you to know");
  if (strcmp(how, "failed") == 0) return airlock_failed(reply, "something went wrong");
  if (strcmp(how, "cancelled") == 0) return airlock_cancelled(reply);
  if (strcmp(how, "trap") == 0) abort();
  if (strcmp(how, "divide") == 0) divide_by_zero();
  if (strcmp(how, "exit") == 0) exit(3);
  if (strcmp(how, "loop") == 0) {
    for (;;) sink++;
  }
  if (strcmp(how, "memory") == 0) eat_memory();
  if (strcmp(how, "recursion") == 0) sink = (unsigned char)recurse(0);
  if (strcmp(how, "bad-details") == 0) {
    airlock_details(reply, "{not json");
    return AIRLOCK_OK;
  }
  return airlock_tool_error(reply, "there is no failure `%s`", how);
}

static const airlock_tool failures = {
    .name = "failures",
    .label = "Failures",
    .description = "Fails in the way that it is asked for.",
    .parameters =
        "{\"type\": \"object\", \"properties\": {\"how\": {\"type\": \"string\", \"enum\": ["
        "\"tool-error\", \"failed\", \"cancelled\", \"trap\", \"divide\", \"exit\", \"loop\", \"memory\", \"recursion\", \"bad-details\"]}},"
        "\"required\": [\"how\"], \"additionalProperties\": false}",
    .traits = AIRLOCK_READ_ONLY,
    .execute = fail,
};

AIRLOCK_TOOLS(&failures);
