/* How a call ends. */
#include "ending.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

const char *text_of(const cJSON *object, const char *member, const char *otherwise) {
  const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, member));
  return text ? text : otherwise;
}

static double number_of(const cJSON *object, const char *member, double otherwise) {
  const cJSON *number = cJSON_GetObjectItemCaseSensitive(object, member);
  return cJSON_IsNumber(number) ? number->valuedouble : otherwise;
}

void set_details(airlock_reply *reply, const cJSON *details) {
  if (details && !cJSON_IsNull(details)) airlock_details(reply, airlock_print(details));
}

static airlock_status say(const cJSON *ending, airlock_reply *reply) {
  const char *text = text_of(ending, "text", "");
  size_t length = strlen(text), times = (size_t)number_of(ending, "times", 1);
  char *repeated = malloc(length * times + 1);
  if (!repeated) abort();
  for (size_t i = 0; i < times; i++) memcpy(repeated + i * length, text, length);
  airlock_text_bytes(reply, repeated, length * times);
  free(repeated);
  set_details(reply, cJSON_GetObjectItemCaseSensitive(ending, "details"));
  return AIRLOCK_OK;
}

static airlock_status blocks(const cJSON *ending, airlock_reply *reply) {
  unsigned char image[256];
  for (int i = 0; i < 256; i++) image[i] = (unsigned char)i;
  airlock_text(reply, "%s", text_of(ending, "text", ""));
  airlock_image(reply, image, sizeof image, "image/png");
  airlock_link(reply, "file:///workspace/report.html", "report", "text/html");
  return AIRLOCK_OK;
}

static airlock_status wait_until_cancelled(airlock_reply *reply) {
  airlock_progress("waiting", AIRLOCK_UNKNOWN, AIRLOCK_UNKNOWN);
  while (!airlock_is_cancelled()) {
  }
  return airlock_cancelled(reply);
}

static airlock_status flaky(const cJSON *ending, const airlock_resolution *resolution, airlock_reply *reply) {
  unsigned attempt = resolution ? (unsigned)resolution->attempt : 1;
  if (attempt < number_of(ending, "attempt", 0)) return airlock_failed(reply, "attempt %u fails", attempt);
  return say(ending, reply);
}

static airlock_status told(const airlock_resolution *resolution, airlock_reply *reply) {
  if (!resolution) return AIRLOCK_NOTHING;
  cJSON *details = airlock_object();
  cJSON_AddStringToObject(details, "actionId", resolution->action_id);
  cJSON_AddStringToObject(details, "label", resolution->label);
  cJSON_AddStringToObject(details, "sourceToolName", resolution->source_tool_name);
  cJSON_AddStringToObject(details, "reason", resolution->reason);
  cJSON_AddRawToObject(details, "extra", resolution->extra ? resolution->extra : "null");
  cJSON_AddNumberToObject(details, "attempt", resolution->attempt);
  set_details(reply, details);
  return AIRLOCK_OK;
}

static airlock_status report(const cJSON *ending, airlock_reply *reply) {
  airlock_log(AIRLOCK_TRACE, "a trace");
  airlock_log(AIRLOCK_DEBUG, "a debug");
  airlock_log(AIRLOCK_INFO, "an info");
  airlock_log(AIRLOCK_WARN, "a warn");
  airlock_log(AIRLOCK_ERROR, "an error");
  airlock_progress("half", 1, 2);
  airlock_progress("some", AIRLOCK_UNKNOWN, AIRLOCK_UNKNOWN);
  return say(ending, reply);
}

static airlock_status count(airlock_reply *reply) {
  static int counted;
  airlock_text(reply, "%d", ++counted);
  return AIRLOCK_OK;
}

static airlock_status vary(const cJSON *ending, airlock_reply *reply) {
  const char *path = "/workspace/varied";
  unsigned long long random;
  struct stat written;
  FILE *file = fopen(path, "w");
  if (!file) return airlock_failed(reply, "can't write to %s", path);
  if (stat(path, &written) || getentropy(&random, sizeof random)) return airlock_failed(reply, "can't look");
  fprintf(file, "%llu %lld %lld", random, (long long)time(NULL), (long long)written.st_mtime);
  if (fclose(file)) return airlock_failed(reply, "can't write to %s", path);
  return say(ending, reply);
}

static airlock_status do_nothing(const airlock_resolution *resolution, airlock_reply *reply) {
  (void)resolution, (void)reply;
  return AIRLOCK_NOTHING;
}

static airlock_status push_again(const char *label, airlock_reply *reply) {
  airlock_volatile_action action = {.label = label, .apply = do_nothing};
  airlock_pushed pushed = airlock_push_volatile(&action);
  if (pushed.status != AIRLOCK_PUSHED) return airlock_tool_error(reply, "%s", pushed.message);
  airlock_text(reply, "pushed %s", label);
  return AIRLOCK_OK;
}

static airlock_status glob_as(const cJSON *ending, const char *pattern, airlock_reply *reply) {
  const cJSON *paths = cJSON_GetObjectItemCaseSensitive(ending, "details"), *path;
  cJSON *details = airlock_parse("[]", 2);
  if (cJSON_IsArray(paths)) {
    cJSON_ArrayForEach(path, paths) {
      if (airlock_matches_glob(pattern, path->valuestring)) cJSON_AddItemToArray(details, cJSON_Duplicate(path, true));
    }
  } else {
    const char *const *found = airlock_glob(pattern);
    if (!found) return airlock_failed(reply, "can't look: %s", strerror(errno));
    for (; *found; found++) cJSON_AddItemToArray(details, cJSON_CreateString(*found));
  }
  set_details(reply, details);
  return AIRLOCK_OK;
}

airlock_status end_as(const cJSON *ending, const airlock_resolution *resolution, airlock_reply *reply) {
  const char *how = text_of(ending, "how", ""), *text = text_of(ending, "text", "");
  if (strcmp(how, "text") == 0) return say(ending, reply);
  if (strcmp(how, "blocks") == 0) return blocks(ending, reply);
  if (strcmp(how, "nothing") == 0) return AIRLOCK_NOTHING;
  if (strcmp(how, "tool-error") == 0) return airlock_tool_error(reply, "%s", text);
  if (strcmp(how, "failed") == 0) return airlock_failed(reply, "%s", text);
  if (strcmp(how, "crash") == 0) abort();
  if (strcmp(how, "wait") == 0) return wait_until_cancelled(reply);
  if (strcmp(how, "flaky") == 0) return flaky(ending, resolution, reply);
  if (strcmp(how, "resolution") == 0) return told(resolution, reply);
  if (strcmp(how, "report") == 0) return report(ending, reply);
  if (strcmp(how, "count") == 0) return count(reply);
  if (strcmp(how, "vary") == 0) return vary(ending, reply);
  if (strcmp(how, "push") == 0) return push_again(text, reply);
  if (strcmp(how, "glob") == 0) return glob_as(ending, text, reply);
  return airlock_tool_error(reply, "no such ending: %s", how);
}
