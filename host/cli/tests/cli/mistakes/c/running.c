/* Mistakes that show when a tool is called. */
#include "airlock.h"

#include <assert.h>
#include <stdlib.h>

static airlock_status apply(const airlock_resolution *resolution, airlock_reply *reply) {
  (void)resolution;
  airlock_text(reply, "Applied.");
  return AIRLOCK_OK;
}

static airlock_status exception(const airlock_call *call, airlock_reply *reply) {
  const cJSON *params = airlock_parse(call->params, call->params_length);
  const char *path = cJSON_GetStringValue(cJSON_GetObjectItem(params, "path"));
  if (!path) abort();
  airlock_text(reply, "%s", path);
  return AIRLOCK_OK;
}

static airlock_status assertion(const airlock_call *call, airlock_reply *reply) {
  const cJSON *params = airlock_parse(call->params, call->params_length);
  assert(cJSON_HasObjectItem(params, "path"));
  airlock_text(reply, "It has a path.");
  return AIRLOCK_OK;
}

static airlock_status forgotten_push(const airlock_call *call, airlock_reply *reply) {
  (void)call;
  airlock_action action = {.label = "Do it", .state = "{}", .state_length = 2};
  (void)action;
  airlock_text(reply, "Staged 1 change.");
  return AIRLOCK_OK;
}

/* What C has in place of a forgotten await: what the push came to is not looked at. */
static airlock_status forgotten_status(const airlock_call *call, airlock_reply *reply) {
  (void)call;
  airlock_action action = {.label = "", .state = "{}", .state_length = 2};
  airlock_push(&action);
  airlock_text(reply, "Staged 1 change.");
  return AIRLOCK_OK;
}

static airlock_status two_line_label(const airlock_call *call, airlock_reply *reply) {
  (void)call;
  airlock_action action = {.label = "Do it:\nhere", .state = "{}", .state_length = 2};
  airlock_pushed pushed = airlock_push(&action);
  if (pushed.status != AIRLOCK_PUSHED) return airlock_tool_error(reply, "%s", pushed.message);
  airlock_text(reply, "Would do it.");
  return AIRLOCK_OK;
}

#define TOOL(function)                                                            \
  static const airlock_tool function##_tool = {                                   \
      .name = #function, .label = "Mistake", .description = "Has a mistake.",     \
      .parameters = "{\"type\": \"object\"}", .traits = AIRLOCK_DEFERRABLE,       \
      .execute = function, .apply = apply,                                        \
  }

TOOL(exception);
TOOL(assertion);
TOOL(forgotten_push);
TOOL(forgotten_status);
TOOL(two_line_label);

AIRLOCK_TOOLS(&exception_tool, &assertion_tool, &forgotten_push_tool, &forgotten_status_tool, &two_line_label_tool);
