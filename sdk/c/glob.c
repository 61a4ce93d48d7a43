/*
 * Finds files by a pattern, by the rules that all SDKs share (tests/conformance/cases/files.json
 * holds them).
 */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "airlock.h"

/* As in airlock.c. */
#undef abort

typedef enum {
  CHARACTER,
  /* ? */
  ONE,
  /* * */
  MANY,
  /* Two stars and a slash, between two names; the step behind it is INSIDE. */
  FOLDERS,
  /* The same, within a name. */
  INSIDE,
  /* An alternative begins here, and the next one at `to`. */
  EITHER,
  /* An alternative ends here, and its braces at `to`, which is 0 until they do. */
  JUMP,
} kind;

typedef struct {
  kind kind;
  uint32_t character;
  size_t to;
} step;

/* What a pattern asks of a path, step by step. A path is followed through all of its ways at once,
 * so that no pattern takes longer than its length times the path's. */
typedef struct {
  step *steps;
  size_t length;
  /* Which steps are next, and which will be behind the next character. */
  bool *reached;
  bool *following;
  /* Whether a name begins there. */
  bool begins;
} glob;

/* Braces that are open: their first step, and the latest alternative. */
typedef struct {
  size_t first;
  size_t alternative;
} braces;

/* In place of a character, at the end. No character has that number. */
#define END UINT32_MAX

/* --- Memory ----------------------------------------------------------------------------------- */

/* Lives until the function of the tool's returns. */
static void *allocate(size_t count, size_t size) {
  void *memory = calloc(count ? count : 1, size);
  if (!memory) abort();
  airlock_defer(free, memory);
  return memory;
}

typedef struct {
  char **texts;
  size_t length;
  size_t capacity;
} list;

static void add(list *list, const char *text) {
  if (list->length == list->capacity) {
    list->capacity = list->capacity ? list->capacity * 2 : 64;
    char **texts = allocate(list->capacity, sizeof *texts);
    if (list->length) memcpy(texts, list->texts, list->length * sizeof *texts);
    list->texts = texts;
  }
  list->texts[list->length++] = (char *)text;
}

/* --- Patterns --------------------------------------------------------------------------------- */

/* Takes the next character of a text that is UTF-8. */
static uint32_t next_character(const char **text) {
  const unsigned char *bytes = (const unsigned char *)*text;
  size_t length = bytes[0] < 0xC0 ? 1 : bytes[0] < 0xE0 ? 2 : bytes[0] < 0xF0 ? 3 : 4;
  uint32_t character = bytes[0];
  size_t taken = 1;
  for (; taken < length && (bytes[taken] & 0xC0) == 0x80; taken++) character = character << 8 | bytes[taken];
  *text += taken;
  return character;
}

/* Where the pattern goes on behind two stars that are a whole name, with their slash; or NULL. */
static const char *behind_folders(const char *pattern, const char *at, bool within) {
  char before = at > pattern ? at[-1] : '/';
  if (at[0] != '*' || at[1] != '*') return NULL;
  if (before != '/' && !(within && (before == '{' || before == ','))) return NULL;
  if (at[2] == '/') return at + 3;
  return at[2] == 0 || (within && (at[2] == ',' || at[2] == '}')) ? at + 2 : NULL;
}

/* Whether there is a `}` for the `{` before. */
static bool is_closed(const char *rest) {
  for (size_t depth = 1; *rest; rest++) {
    if (*rest == '{') depth++;
    if (*rest == '}' && --depth == 0) return true;
  }
  return false;
}

static const char *without_dot(const char *path) { return path[0] == '.' && path[1] == '/' ? path + 2 : path; }

static glob compile(const char *pattern) {
  pattern = without_dot(pattern);
  /* No character of a pattern makes more than two steps. */
  size_t most = 2 * strlen(pattern) + 2, length = 0, depth = 0;
  step *steps = allocate(most, sizeof *steps);
  braces *open = allocate(most, sizeof *open);
  for (const char *at = pattern; *at;) {
    const char *after = behind_folders(pattern, at, depth > 0);
    if (after) {
      steps[length++].kind = FOLDERS;
      steps[length++].kind = INSIDE;
      if (after[-1] == '*') steps[length++].kind = MANY;
      at = after;
      continue;
    }
    uint32_t character = next_character(&at);
    if (character == '*') {
      steps[length++].kind = MANY;
    } else if (character == '?') {
      steps[length++].kind = ONE;
    } else if (character == '{' && is_closed(at)) {
      open[depth++] = (braces){length, length};
      steps[length] = (step){.kind = EITHER, .to = length + 1};
      length++;
    } else if (character == ',' && depth) {
      steps[length++].kind = JUMP;
      steps[open[depth - 1].alternative].to = length;
      open[depth - 1].alternative = length;
      steps[length] = (step){.kind = EITHER, .to = length + 1};
      length++;
    } else if (character == '}' && depth) {
      for (size_t i = open[--depth].first; i < length; i++) {
        if (steps[i].kind == JUMP && steps[i].to == 0) steps[i].to = length;
      }
    } else {
      steps[length++] = (step){.kind = CHARACTER, .character = character};
    }
  }
  return (glob){steps, length, allocate(length + 1, sizeof(bool)), allocate(length + 1, sizeof(bool)), true};
}

/* Adds the steps that are reached without a character. All of these lie ahead. */
static void skip(glob *glob, uint32_t character) {
  for (size_t i = 0; i < glob->length; i++) {
    if (!glob->reached[i]) continue;
    switch (glob->steps[i].kind) {
      case MANY:
        /* A star and `.md` is not `.md`. */
        if (!(glob->begins && character == '.')) glob->reached[i + 1] = true;
        break;
      case FOLDERS:
        if (glob->begins) glob->reached[i + 2] = true;
        break;
      case EITHER:
        glob->reached[i + 1] = glob->reached[glob->steps[i].to] = true;
        break;
      case JUMP:
        glob->reached[glob->steps[i].to] = true;
        break;
      default:
        break;
    }
  }
}

/* Notes the steps that are next behind a path. */
static void follow(glob *glob, const char *path) {
  size_t size = (glob->length + 1) * sizeof(bool);
  memset(glob->reached, 0, size);
  glob->reached[0] = true;
  glob->begins = true;
  while (*path) {
    uint32_t character = next_character(&path);
    skip(glob, character);
    bool is_name = character != '/', is_shown = is_name && !(glob->begins && character == '.');
    memset(glob->following, 0, size);
    for (size_t i = 0; i < glob->length; i++) {
      if (!glob->reached[i]) continue;
      switch (glob->steps[i].kind) {
        case CHARACTER:
          if (glob->steps[i].character == character) glob->following[i + 1] = true;
          break;
        case ONE:
          if (is_shown) glob->following[i + 1] = true;
          break;
        case MANY:
          if (is_shown) glob->following[i] = true;
          break;
        case FOLDERS:
          if (glob->begins && is_shown) glob->following[i + 1] = true;
          break;
        case INSIDE:
          glob->following[is_name ? i : i - 1] = true;
          break;
        default:
          break;
      }
    }
    bool *reached = glob->reached;
    glob->reached = glob->following;
    glob->following = reached;
    glob->begins = !is_name;
  }
}

static bool matches(glob *glob, const char *path) {
  follow(glob, path);
  skip(glob, END);
  return glob->reached[glob->length];
}

/* Whether something below a folder could match; its path ends with a slash. */
static bool reaches(glob *glob, const char *folder) {
  follow(glob, folder);
  return memchr(glob->reached, true, glob->length + 1) != NULL;
}

bool airlock_matches_glob(const char *pattern, const char *path) {
  glob glob = compile(pattern);
  return matches(&glob, without_dot(path));
}

/* --- The workspace ---------------------------------------------------------------------------- */

static int compare(const void *one, const void *other) {
  return strcmp(*(const char *const *)one, *(const char *const *)other);
}

/* Adds what of a folder matches to `found`, and folders that could have more to `folders`. */
static bool visit(glob *glob, const char *folder, list *found, list *folders) {
  /* A relative path that begins with `workspace` or `scratch` would be taken for the component's. */
  DIR *opened = opendir(airlock_format("/workspace/%s", folder));
  if (!opened) return false;
  for (struct dirent *entry; (entry = readdir(opened));) {
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
    const char *path = airlock_format("%s%s", folder, entry->d_name);
    if (entry->d_type == DT_DIR) {
      path = airlock_format("%s/", path);
      if (reaches(glob, path)) add(folders, path);
    } else if (entry->d_type == DT_REG && matches(glob, path)) {
      add(found, path);
    }
  }
  closedir(opened);
  return true;
}

const char *const *airlock_glob(const char *pattern) {
  glob glob = compile(pattern);
  list found = {0}, folders = {0};
  /* Each but the workspace itself ends with a slash. */
  add(&folders, "");
  while (folders.length) {
    if (!visit(&glob, folders.texts[--folders.length], &found, &folders)) return NULL;
  }
  if (found.length) qsort(found.texts, found.length, sizeof *found.texts, compare);
  add(&found, NULL);
  return (const char *const *)found.texts;
}
