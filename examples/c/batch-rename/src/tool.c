/* The tool `batch_rename`: renames files by a regular expression, once somebody agreed. */
#include <errno.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "airlock.h"

static bool exists(const char *path) {
  struct stat found;
  return stat(path, &found) == 0;
}

/* `name` with what the expression finds first replaced; NULL where it finds nothing. */
static const char *renamed(const regex_t *find, const char *name, const char *replace) {
  regmatch_t match;
  if (regexec(find, name, 1, &match, 0) != 0) return NULL;
  return airlock_format("%.*s%s%s", (int)match.rm_so, name, replace, name + match.rm_eo);
}

/* Only names within the workspace's top folder, so that nothing is moved elsewhere. */
static bool is_plain(const char *name) {
  return *name && !strchr(name, '/') && strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

static bool is_taken(const cJSON *plan, const char *to) {
  const cJSON *entry;
  cJSON_ArrayForEach(entry, plan) {
    if (strcmp(cJSON_GetStringValue(cJSON_GetArrayItem(entry, 1)), to) == 0) return true;
  }
  return exists(to);
}

static void free_expression(void *expression) { regfree(expression); }

static airlock_status preview(const airlock_call *call, airlock_reply *reply) {
  const cJSON *params = airlock_parse(call->params, call->params_length);
  const char *find = cJSON_GetStringValue(cJSON_GetObjectItem(params, "find"));
  const char *replace = cJSON_GetStringValue(cJSON_GetObjectItem(params, "replace"));

  static regex_t expression;
  int wrong = regcomp(&expression, find, REG_EXTENDED);
  if (wrong) {
    char reason[128];
    regerror(wrong, &expression, reason, sizeof reason);
    return airlock_tool_error(reply, "`find` is no regular expression: %s", reason);
  }
  airlock_defer(free_expression, &expression);

  /* The plan is a list of pairs. */
  cJSON *plan = cJSON_AddArrayToObject(airlock_object(), "plan");
  const char *list = "";
  const cJSON *file;
  cJSON_ArrayForEach(file, cJSON_GetObjectItem(params, "files")) {
    const char *from = cJSON_GetStringValue(file);
    if (!is_plain(from) || !exists(from)) return airlock_tool_error(reply, "there is no file `%s` here", from);
    const char *to = renamed(&expression, from, replace);
    if (!to || strcmp(from, to) == 0) continue;
    if (!is_plain(to)) return airlock_tool_error(reply, "`%s` would become `%s`, which is no file name", from, to);
    if (is_taken(plan, to)) return airlock_tool_error(reply, "`%s` would become `%s`, which is taken", from, to);
    const char *pair[] = {from, to};
    cJSON_AddItemToArray(plan, cJSON_CreateStringArray(pair, 2));
    list = airlock_format("%s\n%s -> %s", list, from, to);
  }
  int count = cJSON_GetArraySize(plan);
  if (count == 0) {
    airlock_text(reply, "No name would change.");
    return AIRLOCK_OK;
  }

  const char *state = airlock_print(plan);
  airlock_action action = {
      .label = airlock_format("Batch rename: %d files", count),
      .details = state,
      .state = state,
      .state_length = strlen(state),
  };
  airlock_pushed pushed = airlock_push(&action);
  if (pushed.status != AIRLOCK_PUSHED) return airlock_tool_error(reply, "%s", pushed.message);
  airlock_text(reply, "Prepared rename plan for %d files.\n%s", count, list);
  return AIRLOCK_OK;
}

static airlock_status apply(const airlock_resolution *resolution, airlock_reply *reply) {
  const cJSON *plan = airlock_parse(resolution->state, resolution->state_length), *entry;
  int count = 0;
  cJSON_ArrayForEach(entry, plan) {
    const char *from = cJSON_GetStringValue(cJSON_GetArrayItem(entry, 0));
    const char *to = cJSON_GetStringValue(cJSON_GetArrayItem(entry, 1));
    /* An attempt before this one may have renamed it already. */
    if (resolution->attempt > 1 && !exists(from) && exists(to)) continue;
    if (exists(to)) return airlock_tool_error(reply, "`%s` is taken since the preview; %d files were renamed", to, count);
    if (rename(from, to) != 0) {
      return airlock_failed(reply, "renaming `%s` to `%s`: %s (%d files were renamed)", from, to, strerror(errno), count);
    }
    count++;
  }
  airlock_text(reply, "Renamed %d files. Reason: %s", count, resolution->reason);
  return AIRLOCK_OK;
}

static const airlock_tool batch_rename = {
    .name = "batch_rename",
    .label = "Batch rename",
    .description = "Renames files of the workspace's top folder: what a POSIX regular expression finds first in a name is replaced.",
    .parameters =
        "{\"type\": \"object\", \"properties\": {"
        "\"files\": {\"type\": \"array\", \"items\": {\"type\": \"string\"}, \"minItems\": 1, \"description\": \"The files' names.\"},"
        "\"find\": {\"type\": \"string\", \"minLength\": 1, \"description\": \"An extended regular expression.\"},"
        "\"replace\": {\"type\": \"string\", \"description\": \"What to put in its place.\"}},"
        "\"required\": [\"files\", \"find\", \"replace\"], \"additionalProperties\": false}",
    .traits = AIRLOCK_DEFERRABLE | AIRLOCK_DESTRUCTIVE | AIRLOCK_IDEMPOTENT,
    .execute = preview,
    .apply = apply,
};

AIRLOCK_TOOLS(&batch_rename);
