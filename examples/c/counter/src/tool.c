/*
 * The tool `counter`: a number in the memory of the live instance, which an applied action raises.
 */
#include <stdlib.h>

#include "airlock.h"

/* How much was applied in this instance. */
static long long applied;

static airlock_status apply(const airlock_resolution *resolution, airlock_reply *reply) {
  const int *by = resolution->context;
  applied += *by;
  airlock_text(reply, "The counter is at %lld.", applied);
  return AIRLOCK_OK;
}

static airlock_status reject(const airlock_resolution *resolution, airlock_reply *reply) {
  airlock_text(reply, "The counter stays at %lld. Reason: %s", applied, resolution->reason);
  return AIRLOCK_OK;
}

static airlock_status preview(const airlock_call *call, airlock_reply *reply) {
  const cJSON *params = airlock_parse(call->params, call->params_length);
  const cJSON *given = cJSON_GetObjectItem(params, "by");
  int *by = malloc(sizeof *by);
  if (!by) return airlock_failed(reply, "out of memory");
  *by = given ? (int)cJSON_GetNumberValue(given) : 1;

  airlock_volatile_action action = {
      .label = airlock_format("Counter: add %d", *by),
      .apply = apply,
      .reject = reject,
      .context = by,
      .release = free,
  };
  airlock_pushed pushed = airlock_push_volatile(&action);
  if (pushed.status != AIRLOCK_PUSHED) {
    free(by);
    return airlock_tool_error(reply, "%s", pushed.message);
  }
  airlock_text(reply, "The counter is at %lld, and would be at %lld.", applied, applied + *by);
  return AIRLOCK_OK;
}

static const airlock_tool counter = {
    .name = "counter",
    .label = "Counter",
    .description = "Adds to a number that lives as long as this instance of the tool.",
    .parameters =
        "{\"type\": \"object\", \"properties\": {"
        "\"by\": {\"type\": \"integer\", \"minimum\": 1, \"maximum\": 1000, \"description\": \"How much to add; 1 where left out.\"}},"
        "\"additionalProperties\": false}",
    .traits = AIRLOCK_DEFERRABLE,
    .execute = preview,
};

AIRLOCK_TOOLS(&counter);
