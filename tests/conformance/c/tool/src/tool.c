/* The conformance suite's tool, as tests/conformance/README.md has it. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "ending.h"

#define ENDING \
  "{\"type\": \"object\", \"properties\": {\"how\": {\"type\": \"string\"}, \"text\": {\"type\": \"string\"}, " \
  "\"times\": {\"type\": \"integer\"}, \"details\": {}, \"attempt\": {\"type\": \"integer\"}}, \"required\": [\"how\"]}"

static const cJSON *params_of(const airlock_call *call) { return airlock_parse(call->params, call->params_length); }

static const cJSON *member(const cJSON *object, const char *name) {
  return cJSON_GetObjectItemCaseSensitive(object, name);
}

/* The details as text, or NULL. */
static const char *details_of(const cJSON *object) {
  const cJSON *details = member(object, "details");
  return details && !cJSON_IsNull(details) ? airlock_print(details) : NULL;
}

static airlock_status apply_as(const cJSON *ending, const airlock_resolution *resolution, airlock_reply *reply) {
  if (ending) return end_as(ending, resolution, reply);
  airlock_text(reply, "applied");
  return AIRLOCK_OK;
}

/* --- answer ----------------------------------------------------------------------------------- */

static airlock_status answer(const airlock_call *call, airlock_reply *reply) {
  return end_as(member(params_of(call), "end"), NULL, reply);
}

static const airlock_tool answer_tool = {
    .name = "answer",
    .label = "Answer",
    .description = "Ends at once.",
    .parameters = "{\"type\": \"object\", \"properties\": {\"end\": " ENDING "}, \"required\": [\"end\"]}",
    .traits = AIRLOCK_READ_ONLY,
    .execute = answer,
};

/* --- stage ------------------------------------------------------------------------------------ */

/* The state is an object with `apply`, `reject` and the padding. */
static airlock_status stage(const airlock_call *call, airlock_reply *reply) {
  const cJSON *params = params_of(call), *pad = member(params, "pad");
  cJSON *state = airlock_object();
  const char *parts[] = {"apply", "reject"};
  for (int i = 0; i < 2; i++) {
    const cJSON *ending = member(params, parts[i]);
    if (ending) cJSON_AddItemToObject(state, parts[i], cJSON_Duplicate(ending, true));
  }
  if (pad) {
    size_t length = (size_t)pad->valuedouble;
    char *padding = malloc(length + 1);
    if (!padding) abort();
    memset(padding, 'x', length);
    padding[length] = 0;
    cJSON_AddStringToObject(state, "padding", padding);
    free(padding);
  }
  const char *text = airlock_print(state), *label = text_of(params, "label", "");
  airlock_action action = {label, details_of(params), text, strlen(text)};
  airlock_pushed pushed = airlock_push(&action);
  if (pushed.status != AIRLOCK_PUSHED) return airlock_tool_error(reply, "%s", pushed.message);
  airlock_text(reply, "staged %s", label);
  return AIRLOCK_OK;
}

static airlock_status apply(const airlock_resolution *resolution, airlock_reply *reply) {
  const cJSON *state = airlock_parse(resolution->state, resolution->state_length);
  return apply_as(member(state, "apply"), resolution, reply);
}

static airlock_status reject(const airlock_resolution *resolution, airlock_reply *reply) {
  const cJSON *ending = member(airlock_parse(resolution->state, resolution->state_length), "reject");
  return ending ? end_as(ending, resolution, reply) : AIRLOCK_NOTHING;
}

static const airlock_tool stage_tool = {
    .name = "stage",
    .label = "Stage",
    .description = "Pushes a durable action.",
    .parameters = "{\"type\": \"object\", \"properties\": {\"label\": {\"type\": \"string\"}, \"details\": {}, \"apply\": " ENDING
                  ", \"reject\": " ENDING ", \"pad\": {\"type\": \"integer\"}}, \"required\": [\"label\"]}",
    .traits = AIRLOCK_DEFERRABLE | AIRLOCK_DESTRUCTIVE,
    .execute = stage,
    .apply = apply,
    .reject = reject,
};

static const airlock_tool stage_quietly_tool = {
    .name = "stage_quietly",
    .label = "Stage quietly",
    .description = "Pushes a durable action that hears of no discard.",
    .parameters = "{\"type\": \"object\", \"properties\": {\"label\": {\"type\": \"string\"}, \"apply\": " ENDING
                  "}, \"required\": [\"label\"]}",
    .traits = AIRLOCK_DEFERRABLE,
    .execute = stage,
    .apply = apply,
};

/* --- hold ------------------------------------------------------------------------------------- */

static airlock_status apply_held(const airlock_resolution *resolution, airlock_reply *reply) {
  return apply_as(member(resolution->context, "apply"), resolution, reply);
}

static airlock_status reject_held(const airlock_resolution *resolution, airlock_reply *reply) {
  return end_as(member(resolution->context, "reject"), resolution, reply);
}

static void release_held(void *held) { cJSON_Delete(held); }

static airlock_status hold(const airlock_call *call, airlock_reply *reply) {
  const cJSON *params = params_of(call), *held;
  bool catch = cJSON_IsTrue(member(params, "catch"));
  cJSON *details = airlock_object(), *ids = cJSON_AddArrayToObject(details, "ids");
  cJSON_ArrayForEach(held, member(params, "actions")) {
    const char *label = text_of(held, "label", "");
    airlock_volatile_action action = {
        .label = label,
        .details = cJSON_IsTrue(member(held, "unwritable")) ? "{not json" : details_of(held),
        .source_tool_name = text_of(held, "source", NULL),
        .apply = apply_held,
        .reject = member(held, "reject") ? reject_held : NULL,
        .context = cJSON_Duplicate(held, true),
        .release = release_held,
    };
    airlock_pushed pushed = airlock_push_volatile(&action);
    if (pushed.status == AIRLOCK_PUSHED) {
      airlock_text(reply, "pushed %s", label);
      cJSON_AddItemToArray(ids, cJSON_CreateString(pushed.id));
      continue;
    }
    release_held(action.context);
    if (!catch) return airlock_tool_error(reply, "%s", pushed.message);
    airlock_text(reply, "refused: %s", pushed.message);
  }
  set_details(reply, details);
  return AIRLOCK_OK;
}

static const airlock_tool hold_tool = {
    .name = "hold",
    .label = "Hold",
    .description = "Pushes volatile actions.",
    .parameters = "{\"type\": \"object\", \"properties\": {\"actions\": {\"type\": \"array\", \"items\": {\"type\": \"object\", "
                  "\"properties\": {\"label\": {\"type\": \"string\"}, \"source\": {\"type\": \"string\"}, \"details\": {}, "
                  "\"unwritable\": {\"type\": \"boolean\"}, \"apply\": " ENDING ", \"reject\": " ENDING
                  "}, \"required\": [\"label\"]}}, \"catch\": {\"type\": \"boolean\"}}, \"required\": [\"actions\"]}",
    .traits = AIRLOCK_DEFERRABLE,
    .execute = hold,
};

/* --- surroundings and whisper ----------------------------------------------------------------- */

static airlock_status surroundings(const airlock_call *call, airlock_reply *reply) {
  (void)call;
  airlock_session_info session;
  if (!airlock_session(&session)) return airlock_tool_error(reply, "there is no session");
  cJSON *details = airlock_object();
  cJSON_AddStringToObject(details, "id", session.id);
  cJSON_AddItemToObject(details, "workspace",
                        session.workspace ? cJSON_CreateString(session.workspace) : cJSON_CreateNull());
  cJSON_AddBoolToObject(details, "hasPendingStore", session.has_pending_store);
  set_details(reply, details);
  return AIRLOCK_OK;
}

static const airlock_tool surroundings_tool = {
    .name = "surroundings",
    .label = "Surroundings",
    .description = "Tells of the session.",
    .parameters = "{\"type\": \"object\", \"properties\": {}}",
    .traits = AIRLOCK_READ_ONLY,
    .execute = surroundings,
};

static airlock_status whisper(const airlock_call *call, airlock_reply *reply) {
  char *text = (char *)airlock_format("%s", text_of(params_of(call), "text", ""));
  for (char *c = text; *c; c++) *c = (char)toupper((unsigned char)*c);
  airlock_text(reply, "%s", text);
  return AIRLOCK_OK;
}

static const airlock_tool whisper_tool = {
    .name = "whisper",
    .label = "Whisper",
    .description = "Is in no listing.",
    .parameters = "{\"type\": \"object\", \"properties\": {\"text\": {\"type\": \"string\"}}, \"required\": [\"text\"]}",
    .traits = AIRLOCK_HIDDEN | AIRLOCK_READ_ONLY,
    .execute = whisper,
};

AIRLOCK_TOOLS(&answer_tool, &stage_tool, &stage_quietly_tool, &hold_tool, &surroundings_tool, &whisper_tool);
