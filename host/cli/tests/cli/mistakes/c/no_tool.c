#include "airlock.h"
