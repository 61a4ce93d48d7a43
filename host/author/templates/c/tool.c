/* The tool {{tool}}: adds a line to a file, once somebody agreed. */
#include "airlock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is in a file, until the tool returns; NULL where it can't be read. */
static const char *read_file(const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file) return NULL;
  size_t length = 0, capacity = 4096;
  char *text = malloc(capacity);
  while (text) {
    length += fread(text + length, 1, capacity - length - 1, file);
    if (length + 1 < capacity) break;
    char *larger = realloc(text, capacity *= 2);
    if (!larger) free(text);
    text = larger;
  }
  bool failed = ferror(file);
  fclose(file);
  if (!text || failed) {
    free(text);
    return NULL;
  }
  text[length] = 0;
  airlock_defer(free, text);
  return text;
}

static const char *member(const cJSON *object, const char *name) {
  return cJSON_GetStringValue(cJSON_GetObjectItem(object, name));
}

static airlock_status preview(const airlock_call *call, airlock_reply *reply) {
  const cJSON *params = airlock_parse(call->params, call->params_length);
  const char *path = member(params, "path"), *line = member(params, "line");
  const char *before = read_file(path);
  if (!before) return airlock_tool_error(reply, "can't read %s: %s", path, strerror(errno));

  /* What waits for a decision: enough to notice that the file has changed since. */
  cJSON *plan = airlock_object();
  cJSON_AddStringToObject(plan, "path", path);
  cJSON_AddStringToObject(plan, "before", before);
  cJSON_AddStringToObject(plan, "after", airlock_format("%s%s\n", before, line));
  const char *state = airlock_print(plan);
  airlock_action action = {
      .label = airlock_format("{{label}}: %s", path),
      .state = state,
      .state_length = strlen(state),
  };
  airlock_pushed pushed = airlock_push(&action);
  if (pushed.status != AIRLOCK_PUSHED) return airlock_tool_error(reply, "%s", pushed.message);
  airlock_text(reply, "Would add to %s: %s", path, line);
  return AIRLOCK_OK;
}

static airlock_status apply(const airlock_resolution *resolution, airlock_reply *reply) {
  const cJSON *plan = airlock_parse(resolution->state, resolution->state_length);
  const char *path = member(plan, "path"), *after = member(plan, "after"), *now = read_file(path);
  if (!now) return airlock_tool_error(reply, "can't read %s: %s", path, strerror(errno));
  /* An attempt before this one may have done it already. */
  if (strcmp(now, after) != 0) {
    if (strcmp(now, member(plan, "before")) != 0) {
      return airlock_tool_error(reply, "%s changed since the preview: preview again.", path);
    }
    FILE *file = fopen(path, "wb");
    if (!file) return airlock_failed(reply, "opening %s: %s", path, strerror(errno));
    bool written = fputs(after, file) >= 0;
    if (fclose(file) != 0 || !written) return airlock_failed(reply, "writing %s: %s", path, strerror(errno));
  }
  airlock_text(reply, "Added a line to %s. Reason: %s", path, resolution->reason);
  return AIRLOCK_OK;
}

static const airlock_tool tool = {
    .name = "{{tool}}",
    .label = "{{label}}",
    .description = "Adds a line at the end of a file.",
    .parameters =
        "{\"type\": \"object\", \"properties\": {"
        /* A path with U+0000 is no UTF-8 to the host, which would end this instance. */
        "\"path\": {\"type\": \"string\", \"pattern\": \"^[^\\\\x00]*$\", \"description\": \"The file's path, relative to the workspace.\"},"
        "\"line\": {\"type\": \"string\", \"description\": \"The line to add.\"}},"
        "\"required\": [\"path\", \"line\"], \"additionalProperties\": false}",
    .traits = AIRLOCK_DEFERRABLE | AIRLOCK_IDEMPOTENT,
    .execute = preview,
    .apply = apply,
};

AIRLOCK_TOOLS(&tool);
