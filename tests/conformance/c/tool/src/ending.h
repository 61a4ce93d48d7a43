#ifndef ENDING_H
#define ENDING_H

#include "airlock.h"

/* Ends a call as `ending` says; `resolution` is NULL in a call of a tool. */
airlock_status end_as(const cJSON *ending, const airlock_resolution *resolution, airlock_reply *reply);

/* Sets details, unless they are null or not there. */
void set_details(airlock_reply *reply, const cJSON *details);

/* The text of a member of an object; where it is not there, `otherwise`. */
const char *text_of(const cJSON *object, const char *member, const char *otherwise);

#endif
