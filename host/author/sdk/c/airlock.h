/* Airlock's SDK for C: tools that preview, and act only once somebody decided.
 *
 * Memory. What the SDK hands to a function of the tool's (`airlock_call`, `airlock_resolution`, and
 * what the functions here return) lives until that function returns, and is freed by the SDK. What
 * is given to the SDK is copied. So a tool frees only what it allocated itself; `airlock_defer`
 * helps with that.
 *
 * Text is UTF-8 and ends with a NUL. U+0000 stands in it as the two bytes C0 80, both in what the
 * SDK gives and in what it is given. Other bytes that are no UTF-8 reach the host as U+FFFD.
 */
#ifndef AIRLOCK_H
#define AIRLOCK_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "cJSON.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The compiler warns where what a function gives is not looked at. */
#define AIRLOCK_LOOK_AT __attribute__((__warn_unused_result__))
#define AIRLOCK_PRINTF(text, values) __attribute__((__format__(__printf__, text, values)))

/* How a function of the tool's ended. */
typedef enum {
  /* With what was added to the reply. */
  AIRLOCK_OK,
  /* With nothing. After a reject, the host says that the action was discarded. */
  AIRLOCK_NOTHING,
  /* The next three come from `airlock_tool_error`, `airlock_failed` and `airlock_cancelled`. */
  AIRLOCK_TOOL_ERROR,
  AIRLOCK_FAILED,
  AIRLOCK_CANCELLED,
} airlock_status;

/* What a function of the tool's gives back. */
typedef struct airlock_reply airlock_reply;

/* A call of a tool. */
typedef struct {
  /* Names the call in logs. */
  const char *id;
  /* The tool's name. */
  const char *tool;
  /* A JSON object that fits the tool's schema. */
  const char *params;
  size_t params_length;
} airlock_call;

/* A decision about an action that this component pushed. */
typedef struct {
  /* What `airlock_push` gave. */
  const char *action_id;
  const char *label;
  const char *source_tool_name;
  /* As it was pushed; NULL for a volatile action. */
  const void *state;
  size_t state_length;
  /* Why it was decided so. It should not change what happens. */
  const char *reason;
  /* A JSON object, or NULL. */
  const char *extra;
  /* 1 for the first try, more after one that failed or was interrupted. */
  uint32_t attempt;
  /* As it was pushed; NULL for a durable action. */
  void *context;
} airlock_resolution;

typedef airlock_status airlock_execute(const airlock_call *call, airlock_reply *reply);
typedef airlock_status airlock_resolve(const airlock_resolution *resolution, airlock_reply *reply);

/* What a host may assume about a tool: for `airlock_tool.traits`, any of them. */
enum {
  /* Left out of listings. */
  AIRLOCK_HIDDEN = 1 << 0,
  /* It may push actions. */
  AIRLOCK_DEFERRABLE = 1 << 1,
  /* It never changes anything. */
  AIRLOCK_READ_ONLY = 1 << 2,
  /* What its actions do can't be undone. */
  AIRLOCK_DESTRUCTIVE = 1 << 3,
  /* Applied twice, an action does what it does once. */
  AIRLOCK_IDEMPOTENT = 1 << 4,
  /* It reaches beyond the workspace. */
  AIRLOCK_OPEN_WORLD = 1 << 5,
};

/* A tool. */
typedef struct {
  /* 1 to 64 of A-Z a-z 0-9 _ . - */
  const char *name;
  /* For people, one line. */
  const char *label;
  /* For the model. */
  const char *description;
  /* JSON Schema of the params, an object. The host checks each call against it. */
  const char *parameters;
  /* JSON Schema of the details of its results, or NULL. */
  const char *output;
  unsigned traits;
  /* Runs the tool. The workspace is read-only meanwhile. */
  airlock_execute *execute;
  /*
   * Does what a durable action of this tool announced; the workspace may be written. NULL where it
   * pushes none.
   */
  airlock_resolve *apply;
  /* Cleans up after a durable action that was discarded; may be NULL. */
  airlock_resolve *reject;
} airlock_tool;

/*
 * The component's tools: once in a project, for example AIRLOCK_TOOLS(&rename_files, &count_files)
 */
#define AIRLOCK_TOOLS(...)                                          \
  const airlock_tool *const airlock_tools[] = {__VA_ARGS__};        \
  const size_t airlock_tool_count = sizeof airlock_tools / sizeof airlock_tools[0]

extern const airlock_tool *const airlock_tools[];
extern const size_t airlock_tool_count;

/* --- Results ---------------------------------------------------------------------------------- */

/* Adds a block of text, as printf writes it. */
void airlock_text(airlock_reply *reply, const char *format, ...) AIRLOCK_PRINTF(2, 3);

/* Adds a block of text of so many bytes. */
void airlock_text_bytes(airlock_reply *reply, const char *text, size_t length);

/* Adds a picture of a media type, for example image/png. */
void airlock_image(airlock_reply *reply, const void *data, size_t length, const char *mime_type);

/* Adds a link to an absolute URI; `mime_type` may be NULL. */
void airlock_link(airlock_reply *reply, const char *uri, const char *name, const char *mime_type);

/* Sets the details, a JSON value for programs; NULL for none. */
void airlock_details(airlock_reply *reply, const char *json);

/*
 * Ends with an error that reaches the caller word for word: return airlock_tool_error(reply, "no
 * such file: %s", path);
 */
airlock_status airlock_tool_error(airlock_reply *reply, const char *format, ...) AIRLOCK_PRINTF(2, 3);

/* Ends with any other error. After an apply the caller reads it behind `Apply failed: `. */
airlock_status airlock_failed(airlock_reply *reply, const char *format, ...) AIRLOCK_PRINTF(2, 3);

/* Ends since the call was cancelled. */
airlock_status airlock_cancelled(airlock_reply *reply);

/* --- Pending actions -------------------------------------------------------------------------- */

/* A preview that waits for a decision, and outlives this instance: `apply` and `reject` of the tool
 * that is running are called with its state, perhaps in another process. It has a reject where the
 * tool has one. */
typedef struct {
  /* What would happen, one line. */
  const char *label;
  /* A JSON value for reviewers, or NULL. */
  const char *details;
  /* What `apply` will need. */
  const void *state;
  size_t state_length;
} airlock_action;

/* A preview that lives in this instance, and ends with it. */
typedef struct {
  const char *label;
  const char *details;
  /* The tool that made the preview; NULL for the one that is running. */
  const char *source_tool_name;
  airlock_resolve *apply;
  /* May be NULL. */
  airlock_resolve *reject;
  /* For these two. */
  void *context;
  /* Called with `context` once the action is gone; may be NULL. Of an action without a reject that
   * is discarded, the instance does not hear. */
  void (*release)(void *context);
} airlock_volatile_action;

typedef enum {
  AIRLOCK_PUSHED,
  /* Nothing was pushed in these cases. */
  AIRLOCK_STORE_UNAVAILABLE,
  AIRLOCK_LIMIT_EXCEEDED,
  AIRLOCK_INVALID,
} airlock_push_status;

typedef struct {
  airlock_push_status status;
  /* The action's id; NULL where it was refused. */
  const char *id;
  /* Why it was refused; NULL where it was not. */
  const char *message;
} airlock_pushed;

/* Puts an action on top of the session's stack. To end the call where it is refused:
 * if (pushed.status != AIRLOCK_PUSHED) return airlock_tool_error(reply, "%s", pushed.message);
 * For AIRLOCK_INVALID, which is a mistake of the tool's, that tells the place of the push too. */
airlock_pushed airlock_push(const airlock_action *action) AIRLOCK_LOOK_AT;
airlock_pushed airlock_push_volatile(const airlock_volatile_action *action) AIRLOCK_LOOK_AT;

/* --- The host --------------------------------------------------------------------------------- */

typedef enum { AIRLOCK_TRACE, AIRLOCK_DEBUG, AIRLOCK_INFO, AIRLOCK_WARN, AIRLOCK_ERROR } airlock_level;

/* Writes a line to the host's log. */
void airlock_log(airlock_level level, const char *format, ...) AIRLOCK_PRINTF(2, 3);

/* In place of a number that is not known. */
#define AIRLOCK_UNKNOWN __builtin_nan("")

/* Tells how far the call is, in a unit of the tool's own. */
void airlock_progress(const char *message, double progress, double total);

/*
 * Whether nobody waits for the call's answer any more. A tool that runs for long asks now and then.
 */
bool airlock_is_cancelled(void);

typedef struct {
  const char *id;
  /* Where the workspace is; NULL where there is none. */
  const char *workspace;
  bool has_pending_store;
} airlock_session_info;

/* The session of this call. False where there is none. */
bool airlock_session(airlock_session_info *session);

/* There is no network, and there are no processes: the compiler says so, and not that it knows no
 * such function. */
#define AIRLOCK_ABSENT(text) __attribute__((__unavailable__(text)))
int socket(int domain, int type, int protocol)
    AIRLOCK_ABSENT("a tool has no network here: it gets what it needs as params, or as files of the workspace");
int fork(void) AIRLOCK_ABSENT("a tool starts no processes here: it does all by itself");
int system(const char *command) AIRLOCK_ABSENT("a tool starts no other programs here: it does all by itself");
int execvp(const char *file, char *const arguments[]) AIRLOCK_ABSENT("a tool starts no other programs here: it does all by itself");

/* --- Files ------------------------------------------------------------------------------------ */

/*
 * The files of the workspace whose paths match a pattern, sorted, with a NULL behind the last. NULL
 * where a folder can't be read: errno tells why. That nothing matches is no error.
 *
 * A star stands for any characters of one name and `?` for one, two stars as a whole name for any
 * folders or none, and at the end for all that is below; `{c,h}` is either. Nothing else is special,
 * and capital letters differ from small ones. A name that begins with a dot is matched only by a
 * pattern that has that dot, so that `.git` is not entered unless it is named.
 *
 * The paths are relative to the workspace. Only files are in it, each once: symbolic links are
 * neither followed nor listed.
 */
const char *const *airlock_glob(const char *pattern);

/* Whether a path matches a pattern of `airlock_glob`, whatever is there. */
bool airlock_matches_glob(const char *pattern, const char *path);

/* --- Memory and JSON -------------------------------------------------------------------------- */

/* Calls `release` with `value` when the function of the tool's that is running has returned. */
void airlock_defer(void (*release)(void *value), void *value);

/* Text as printf writes it, which lives until the function returns. */
const char *airlock_format(const char *format, ...) AIRLOCK_PRINTF(1, 2);

/* A JSON text as a tree that lives until the function returns; NULL where it is not JSON. */
cJSON *airlock_parse(const void *json, size_t length);

/* A tree as JSON text that lives until the function returns. */
const char *airlock_print(const cJSON *tree);

/* A new object that lives until the function returns. */
cJSON *airlock_object(void);

/* --- Places ----------------------------------------------------------------------------------- */

/* Ends the instance as `abort` does, and the caller reads where, as it does of an `assert`. */
__attribute__((__noreturn__)) void airlock_abort_at(const char *file, int line);
/* From here on, where the next push is. */
void airlock_at(const char *file, int line);

#ifdef __cplusplus
}
#else
#define abort() airlock_abort_at(__FILE__, __LINE__)
#define airlock_push(...) (airlock_at(__FILE__, __LINE__), airlock_push(__VA_ARGS__))
#define airlock_push_volatile(...) (airlock_at(__FILE__, __LINE__), airlock_push_volatile(__VA_ARGS__))
#endif
#endif
