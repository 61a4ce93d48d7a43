/*
 * What stands behind airlock.h: the exports of the world, which find the tool, and what it calls.
 */
#include "airlock.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "custom_tool.h"

/* That memory is used up, the host says by itself; what says a place is more code in each component. */
#undef abort

struct airlock_reply {
  airlock_tool_types_content_t *content;
  size_t length;
  size_t capacity;
  custom_tool_option_string_t details;
  custom_tool_option_string_t error;
};

/* What is released when the function of the tool's returns, the last one first. */
typedef struct deferred {
  struct deferred *next;
  void (*release)(void *value);
  void *value;
} deferred;

/* Volatile actions, which the host knows by their ids alone. */
typedef struct held {
  struct held *next;
  char *id;
  airlock_volatile_action action;
} held;

static deferred *deferred_values;
static held *held_actions;
/* The tool that is running: what it pushes is its own. */
static const airlock_tool *running;

/* A place in the tool's sources. */
typedef struct {
  const char *file;
  int line;
} place;

/* Of the last push. */
static place pushing;
/* What the host said of the last action that it found invalid, and where that was pushed. */
static struct {
  const char *message;
  place at;
} invalid;

/* --- The end ---------------------------------------------------------------------------------- */

/* The line goes to the standard error, whose end the host puts into its report. There may be no
 * memory left. */
void airlock_abort_at(const char *file, int line) {
  char text[512];
  const char *who = running ? "tool `" : "plugin", *name = running ? running->name : "", *behind = running ? "`" : "";
  int length = snprintf(text, sizeof text, "%s%s%s panicked at %s:%d: abort() was called\n", who, name, behind, file, line);
  if (length >= (int)sizeof text) length = sizeof text - 1;
  /* Nobody is left to be told of a failure. */
  ssize_t written = write(STDERR_FILENO, text, (size_t)length);
  (void)written;
  abort();
}

void airlock_at(const char *file, int line) { pushing = (place){file, line}; }

/* --- Memory ----------------------------------------------------------------------------------- */

/* No memory for no bytes: the bindings free none of that size. */
static void *allocate(size_t size) {
  if (!size) return NULL;
  void *memory = malloc(size);
  /* There is nobody who could do without it. */
  if (!memory) abort();
  return memory;
}

static void *grow(void *memory, size_t size) {
  memory = realloc(memory, size);
  if (!memory) abort();
  return memory;
}

void airlock_defer(void (*release)(void *value), void *value) {
  deferred *entry = allocate(sizeof *entry);
  *entry = (deferred){deferred_values, release, value};
  deferred_values = entry;
}

static void release_deferred(void) {
  /* Its text is one of them. */
  invalid.message = NULL;
  while (deferred_values) {
    deferred *entry = deferred_values;
    deferred_values = entry->next;
    entry->release(entry->value);
    free(entry);
  }
}

/* Takes what the host gave, and makes it end with a NUL. */
static const char *take(void *bytes, size_t length) {
  char *text = grow(length ? bytes : NULL, length + 1);
  text[length] = 0;
  airlock_defer(free, text);
  return text;
}

/* How U+0000 stands in a text that ends with a NUL: as two bytes that no other character has. */
static const char NUL[] = "\xC0\x80";

static const char *take_string(custom_tool_string_t string) {
  size_t nuls = 0;
  for (size_t i = 0; i < string.len; i++) nuls += string.ptr[i] == 0;
  if (nuls == 0) return take(string.ptr, string.len);
  char *text = allocate(string.len + nuls + 1), *end = text;
  for (size_t i = 0; i < string.len; i++) {
    size_t length = string.ptr[i] ? 1 : 2;
    memcpy(end, string.ptr[i] ? (const char *)&string.ptr[i] : NUL, length);
    end += length;
  }
  *end = 0;
  free(string.ptr);
  airlock_defer(free, text);
  return text;
}

static const char *take_option(custom_tool_option_string_t option) {
  return option.is_some ? take_string(option.val) : NULL;
}

/* --- Text ------------------------------------------------------------------------------------- */

/* How many bytes the character takes that begins here; 0 where none does. */
static size_t character(const unsigned char *text, size_t left) {
  unsigned char first = text[0], low = 0x80, high = 0xBF;
  size_t length;
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) {
    length = 2;
  } else if (first >= 0xE0 && first <= 0xEF) {
    length = 3;
    if (first == 0xE0) low = 0xA0;  /* else there is a shorter form */
    if (first == 0xED) high = 0x9F; /* surrogates are no characters */
  } else if (first >= 0xF0 && first <= 0xF4) {
    length = 4;
    if (first == 0xF0) low = 0x90;
    if (first == 0xF4) high = 0x8F; /* the last is U+10FFFF */
  } else {
    return 0;
  }
  if (left < length || text[1] < low || text[1] > high) return 0;
  for (size_t i = 2; i < length; i++) {
    if (text[i] < 0x80 || text[i] > 0xBF) return 0;
  }
  return length;
}

/* Writes the character at `text` as the host reads it, to `to` unless that is NULL. Gives how many
 * bytes it took, and in `written` how many it became. What is no UTF-8 would be the end of this
 * instance. */
static size_t put_character(const unsigned char *text, size_t left, uint8_t *to, size_t *written) {
  const unsigned char *from = text;
  size_t length = character(text, left), taken = length;
  if (left >= 2 && memcmp(text, NUL, 2) == 0) {
    from = (const unsigned char *)"";
    length = 1;
    taken = 2;
  } else if (length == 0) {
    from = (const unsigned char *)"\xEF\xBF\xBD";
    length = 3;
    taken = 1;
  }
  if (to) memcpy(to, from, length);
  *written = length;
  return taken;
}

static custom_tool_string_t copy_bytes(const char *text, size_t length) {
  const unsigned char *bytes = (const unsigned char *)text;
  size_t needed = 0, written;
  for (size_t i = 0; i < length; needed += written) i += put_character(bytes + i, length - i, NULL, &written);
  custom_tool_string_t copy = {allocate(needed), needed};
  uint8_t *end = copy.ptr;
  for (size_t i = 0; i < length; end += written) i += put_character(bytes + i, length - i, end, &written);
  return copy;
}

static custom_tool_string_t copy(const char *text) { return copy_bytes(text, strlen(text)); }

static custom_tool_option_string_t copy_option(const char *text) {
  custom_tool_option_string_t option = {text != NULL, {NULL, 0}};
  if (text) option.val = copy(text);
  return option;
}

static char *format_text(const char *format, va_list arguments) {
  va_list again;
  va_copy(again, arguments);
  int length = vsnprintf(NULL, 0, format, again);
  va_end(again);
  if (length < 0) length = 0;
  char *text = allocate((size_t)length + 1);
  text[0] = 0;
  vsnprintf(text, (size_t)length + 1, format, arguments);
  return text;
}

const char *airlock_format(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  char *text = format_text(format, arguments);
  va_end(arguments);
  airlock_defer(free, text);
  return text;
}

/* --- Replies ---------------------------------------------------------------------------------- */

static airlock_tool_types_content_t *add(airlock_reply *reply, uint8_t tag) {
  if (reply->length == reply->capacity) {
    reply->capacity = reply->capacity ? 2 * reply->capacity : 4;
    reply->content = grow(reply->content, reply->capacity * sizeof *reply->content);
  }
  airlock_tool_types_content_t *content = &reply->content[reply->length++];
  content->tag = tag;
  return content;
}

void airlock_text_bytes(airlock_reply *reply, const char *text, size_t length) {
  custom_tool_string_t copied = copy_bytes(text, length);
  add(reply, AIRLOCK_TOOL_TYPES_CONTENT_TEXT)->val.text = copied;
}

void airlock_text(airlock_reply *reply, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  char *text = format_text(format, arguments);
  va_end(arguments);
  airlock_text_bytes(reply, text, strlen(text));
  free(text);
}

void airlock_image(airlock_reply *reply, const void *data, size_t length, const char *mime_type) {
  airlock_tool_types_blob_t blob = {{allocate(length), length}, copy(mime_type)};
  if (length) memcpy(blob.data.ptr, data, length);
  add(reply, AIRLOCK_TOOL_TYPES_CONTENT_IMAGE)->val.image = blob;
}

void airlock_link(airlock_reply *reply, const char *uri, const char *name, const char *mime_type) {
  airlock_tool_types_link_t link = {copy(uri), copy(name), copy_option(mime_type)};
  add(reply, AIRLOCK_TOOL_TYPES_CONTENT_RESOURCE_LINK)->val.resource_link = link;
}

void airlock_details(airlock_reply *reply, const char *json) {
  custom_tool_option_string_free(&reply->details);
  reply->details = copy_option(json);
}

static void set_error(airlock_reply *reply, const char *format, va_list arguments) {
  char *text = format_text(format, arguments);
  custom_tool_option_string_free(&reply->error);
  if (invalid.message && invalid.at.file && strcmp(text, invalid.message) == 0) {
    reply->error = copy_option(airlock_format("%s (%s:%d)", text, invalid.at.file, invalid.at.line));
  } else {
    reply->error = copy_option(text);
  }
  free(text);
}

airlock_status airlock_tool_error(airlock_reply *reply, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  set_error(reply, format, arguments);
  va_end(arguments);
  return AIRLOCK_TOOL_ERROR;
}

airlock_status airlock_failed(airlock_reply *reply, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  set_error(reply, format, arguments);
  va_end(arguments);
  return AIRLOCK_FAILED;
}

airlock_status airlock_cancelled(airlock_reply *reply) {
  (void)reply;
  return AIRLOCK_CANCELLED;
}

/*
 * Hands the reply to the host, which frees it; what it doesn't get is freed here. True where it is
 * a result.
 */
static bool give(airlock_status status, airlock_reply *reply, airlock_tool_types_tool_result_t *result,
                 airlock_tool_types_tool_error_t *error) {
  if (status == AIRLOCK_NOTHING) {
    *result = (airlock_tool_types_tool_result_t){{NULL, 0}, {false, {NULL, 0}}};
  } else if (status == AIRLOCK_OK) {
    *result = (airlock_tool_types_tool_result_t){{reply->content, reply->length}, reply->details};
    custom_tool_option_string_free(&reply->error);
    return true;
  } else if (status == AIRLOCK_CANCELLED) {
    error->tag = AIRLOCK_TOOL_TYPES_TOOL_ERROR_CANCELLED;
  } else {
    bool on_purpose = status == AIRLOCK_TOOL_ERROR;
    error->tag = on_purpose ? AIRLOCK_TOOL_TYPES_TOOL_ERROR_TOOL : AIRLOCK_TOOL_TYPES_TOOL_ERROR_FAILED;
    error->val.failed = reply->error.is_some ? reply->error.val : copy("the tool gave no reason");
    reply->error.is_some = false;
  }
  airlock_tool_types_tool_result_t unused = {{reply->content, reply->length}, reply->details};
  airlock_tool_types_tool_result_free(&unused);
  custom_tool_option_string_free(&reply->error);
  return status == AIRLOCK_NOTHING;
}

/* --- Pushing ---------------------------------------------------------------------------------- */

static airlock_pushed push(airlock_tool_pending_actions_pending_action_t *action) {
  place at = pushing;
  pushing = (place){NULL, 0};
  custom_tool_string_t id;
  airlock_tool_pending_actions_push_error_t error;
  bool pushed = airlock_tool_pending_actions_push_pending_action(action, &id, &error);
  airlock_tool_pending_actions_pending_action_free(action);
  if (pushed) return (airlock_pushed){AIRLOCK_PUSHED, take_string(id), NULL};
  airlock_push_status status = AIRLOCK_INVALID;
  if (error.tag == AIRLOCK_TOOL_PENDING_ACTIONS_PUSH_ERROR_STORE_UNAVAILABLE) status = AIRLOCK_STORE_UNAVAILABLE;
  if (error.tag == AIRLOCK_TOOL_PENDING_ACTIONS_PUSH_ERROR_LIMIT_EXCEEDED) status = AIRLOCK_LIMIT_EXCEEDED;
  const char *message = take_string(error.val.invalid);
  if (status == AIRLOCK_INVALID) {
    invalid.message = message;
    invalid.at = at;
  }
  return (airlock_pushed){status, NULL, message};
}

airlock_pushed (airlock_push)(const airlock_action *action) {
  custom_tool_list_u8_t state = {allocate(action->state_length), action->state_length};
  if (action->state_length) memcpy(state.ptr, action->state, action->state_length);
  airlock_tool_pending_actions_pending_action_t pending = {
      .label = copy(action->label),
      .source_tool_name = copy_option(running ? running->name : NULL),
      .details = copy_option(action->details),
      .has_reject = running && running->reject,
      .state = {true, state},
  };
  return push(&pending);
}

airlock_pushed (airlock_push_volatile)(const airlock_volatile_action *action) {
  airlock_tool_pending_actions_pending_action_t pending = {
      .label = copy(action->label),
      .source_tool_name = copy_option(action->source_tool_name ? action->source_tool_name : running ? running->name : NULL),
      .details = copy_option(action->details),
      .has_reject = action->reject != NULL,
      .state = {false, {NULL, 0}},
  };
  airlock_pushed pushed = push(&pending);
  if (pushed.status == AIRLOCK_PUSHED) {
    held *entry = allocate(sizeof *entry);
    *entry = (held){held_actions, allocate(strlen(pushed.id) + 1), *action};
    strcpy(entry->id, pushed.id);
    held_actions = entry;
  }
  return pushed;
}

static held **find_held(const char *id) {
  held **place = &held_actions;
  while (*place && strcmp((*place)->id, id) != 0) place = &(*place)->next;
  return place;
}

static void let_go(const char *id) {
  held **place = find_held(id), *entry = *place;
  if (!entry) return;
  *place = entry->next;
  if (entry->action.release) entry->action.release(entry->action.context);
  free(entry->id);
  free(entry);
}

/* --- The host --------------------------------------------------------------------------------- */

void airlock_log(airlock_level level, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  char *text = format_text(format, arguments);
  va_end(arguments);
  custom_tool_string_t message = copy(text);
  free(text);
  airlock_tool_host_log((airlock_tool_host_level_t)level, &message);
  custom_tool_string_free(&message);
}

void airlock_progress(const char *message, double progress, double total) {
  custom_tool_string_t copied = copy(message);
  /* What is not known is not a number. */
  double *known_progress = progress == progress ? &progress : NULL;
  double *known_total = total == total ? &total : NULL;
  airlock_tool_host_report_progress(&copied, known_progress, known_total);
  custom_tool_string_free(&copied);
}

bool airlock_is_cancelled(void) { return airlock_tool_host_is_cancelled(); }

bool airlock_session(airlock_session_info *session) {
  airlock_tool_host_session_info_t info;
  if (!airlock_tool_host_session(&info)) return false;
  session->id = take_string(info.id);
  session->workspace = take_option(info.workspace);
  session->has_pending_store = info.has_pending_store;
  return true;
}

/* --- JSON ------------------------------------------------------------------------------------- */

static void delete_tree(void *tree) { cJSON_Delete(tree); }

static void free_printed(void *text) { cJSON_free(text); }

cJSON *airlock_parse(const void *json, size_t length) {
  /* cJSON ends a text at U+0000, so that one is written otherwise: shorter, and not escaped. */
  const char *from = json;
  char *text = grow(NULL, length + 1), *end = text;
  for (size_t i = 0; i < length;) {
    size_t step = from[i] == '\\' && i + 1 < length ? 2 : 1;
    if (length - i >= 6 && memcmp(from + i, "\\u0000", 6) == 0) {
      memcpy(end, NUL, 2);
      end += 2;
      i += 6;
      continue;
    }
    memcpy(end, from + i, step);
    end += step;
    i += step;
  }
  cJSON *tree = cJSON_ParseWithLength(text, (size_t)(end - text));
  free(text);
  if (tree) airlock_defer(delete_tree, tree);
  return tree;
}

const char *airlock_print(const cJSON *tree) {
  char *printed = cJSON_PrintUnformatted(tree);
  if (!printed) abort();
  airlock_defer(free_printed, printed);
  size_t nuls = 0;
  for (const char *at = printed; (at = strstr(at, NUL)); at += 2) nuls++;
  if (nuls == 0) return printed;
  char *text = allocate(strlen(printed) + 4 * nuls + 1), *end = text;
  airlock_defer(free, text);
  const char *from = printed;
  for (const char *at; (at = strstr(from, NUL)); from = at + 2) {
    memcpy(end, from, (size_t)(at - from));
    end += at - from;
    memcpy(end, "\\u0000", 6);
    end += 6;
  }
  strcpy(end, from);
  return text;
}

cJSON *airlock_object(void) {
  cJSON *object = cJSON_CreateObject();
  if (!object) abort();
  airlock_defer(delete_tree, object);
  return object;
}

/* --- Exports ---------------------------------------------------------------------------------- */

/* Why a tool can't be used; NULL where it can. */
static const char *lack(const airlock_tool *tool) {
  if (!tool->name) return "it has no name";
  if (!tool->label) return "it has no label";
  if (!tool->description) return "it has no description";
  if (!tool->parameters) return "it has no parameters: give a JSON Schema of an object";
  if (!tool->execute) return "it has no execute";
  return NULL;
}

static const char *or_empty(const char *text) { return text ? text : ""; }

void exports_airlock_tool_tool_definitions(exports_airlock_tool_tool_list_tool_definition_t *ret) {
  static const airlock_tool nothing = {0};
  ret->len = airlock_tool_count;
  ret->ptr = allocate(ret->len * sizeof *ret->ptr);
  for (size_t i = 0; i < ret->len; i++) {
    const airlock_tool *tool = airlock_tools[i] ? airlock_tools[i] : &nothing;
    const char *lacks = lack(tool);
    ret->ptr[i] = (exports_airlock_tool_tool_tool_definition_t){
        .name = copy(or_empty(tool->name)),
        .label = copy(or_empty(tool->label)),
        .description = copy(or_empty(tool->description)),
        /* A text in place of a schema tells the host why it has to leave the tool out. */
        .parameters = copy(lacks ? airlock_format("\"%s\"", lacks) : tool->parameters),
        .output = copy_option(tool->output),
        .traits = (airlock_tool_types_tool_traits_t)tool->traits,
    };
  }
  release_deferred();
}

static const airlock_tool *find_tool(const char *name) {
  for (size_t i = 0; i < airlock_tool_count; i++) {
    const airlock_tool *tool = airlock_tools[i];
    if (tool && tool->name && strcmp(tool->name, name) == 0) return tool;
  }
  return NULL;
}

bool exports_airlock_tool_tool_execute(custom_tool_string_t *call_id, custom_tool_string_t *name,
                                       custom_tool_string_t *params, exports_airlock_tool_tool_tool_result_t *ret,
                                       exports_airlock_tool_tool_tool_error_t *err) {
  airlock_reply reply = {0};
  airlock_call call = {take_string(*call_id), take_string(*name), NULL, params->len};
  call.params = take_string(*params);
  airlock_status status;
  running = find_tool(call.tool);
  if (running && running->execute) {
    status = running->execute(&call, &reply);
  } else {
    status = airlock_failed(&reply, "this component has no tool %s", call.tool);
  }
  running = NULL;
  release_deferred();
  return give(status, &reply, ret, err);
}

static airlock_resolution take_resolution(exports_airlock_tool_resolver_resolution_t *from) {
  airlock_resolution resolution = {
      .action_id = take_string(from->action_id),
      .label = take_string(from->label),
      .source_tool_name = take_string(from->source_tool_name),
      .reason = take_string(from->reason),
      .extra = take_option(from->extra),
      .attempt = from->attempt,
  };
  if (from->state.is_some) {
    resolution.state_length = from->state.val.len;
    resolution.state = take(from->state.val.ptr, from->state.val.len);
  }
  return resolution;
}

static airlock_status resolve(airlock_resolution *resolution, bool applies, airlock_reply *reply) {
  airlock_resolve *function = NULL;
  held *entry = *find_held(resolution->action_id);
  running = find_tool(resolution->source_tool_name);
  if (entry) {
    function = applies ? entry->action.apply : entry->action.reject;
    resolution->context = entry->action.context;
  } else if (running && resolution->state) {
    function = applies ? running->apply : running->reject;
  }
  airlock_status status;
  if (function) {
    status = function(resolution, reply);
  } else {
    const char *verb = applies ? "apply" : "reject";
    status = airlock_failed(reply, "this component has no %s for the action %s", verb, resolution->action_id);
  }
  running = NULL;
  bool failed = status != AIRLOCK_OK && status != AIRLOCK_NOTHING;
  /* An apply that failed may be tried again. */
  if (!applies || !failed) let_go(resolution->action_id);
  release_deferred();
  return status;
}

bool exports_airlock_tool_resolver_apply(exports_airlock_tool_resolver_resolution_t *from,
                                         exports_airlock_tool_resolver_tool_result_t *ret,
                                         exports_airlock_tool_resolver_tool_error_t *err) {
  airlock_reply reply = {0};
  airlock_resolution resolution = take_resolution(from);
  airlock_status status = resolve(&resolution, true, &reply);
  return give(status, &reply, ret, err);
}

bool exports_airlock_tool_resolver_reject(exports_airlock_tool_resolver_resolution_t *from,
                                          exports_airlock_tool_resolver_option_tool_result_t *ret,
                                          exports_airlock_tool_resolver_tool_error_t *err) {
  airlock_reply reply = {0};
  airlock_resolution resolution = take_resolution(from);
  airlock_status status = resolve(&resolution, false, &reply);
  ret->is_some = status != AIRLOCK_NOTHING;
  return give(status, &reply, &ret->val, err);
}
