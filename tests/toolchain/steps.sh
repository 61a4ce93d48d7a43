# shellcheck shell=bash
#
# Sourced by tests/run, tests/everything and .ci/run, which are lists of steps: each is announced and timed, and the
# first that fails is the last. $AIRLOCK_STEPS names a file that collects their times, over all the scripts of a run.
#
# A step is one command and not a function of several: bash would go on behind a failure inside it.

step() { # TITLE COMMAND [ARGUMENT...]
  local title=$1 started=$SECONDS status=0
  shift
  printf '\n==> %s\n' "$title"
  "$@" || status=$?
  if [[ $status != 0 ]]; then
    printf '\nerror: "%s" failed after %s, with exit code %d. The command was:\n  %s\n' \
      "$title" "$(elapsed "$started")" "$status" "$*" >&2
    exit "$status"
  fi
  printf '<== %s: %s\n' "$title" "$(elapsed "$started")"
  [[ -z ${AIRLOCK_STEPS:-} ]] || printf '%d\t%s\n' $((SECONDS - started)) "$title" >>"$AIRLOCK_STEPS"
}

within() { # FOLDER COMMAND [ARGUMENT...]
  (cd "$1" && "${@:2}")
}

elapsed() { # STARTED, in bash's $SECONDS
  local seconds=$((SECONDS - $1))
  printf '%d:%02d min' $((seconds / 60)) $((seconds % 60))
}
