# shellcheck shell=bash
#
# Sourced by the scripts that install what tests need.

# Installs packages of Debian's, by the lists that are here or by newer ones.
install_packages() { # PACKAGE...
  local install=(env DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends "$@")
  as_root "${install[@]}" && return
  as_root apt-get update
  as_root "${install[@]}"
}

# Runs a command with the rights of root, where there is a way.
as_root() {
  if [[ $(id -u) == 0 ]]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    echo "'$*' needs root: run it yourself, then this script again" >&2
    return 1
  fi
}

fail() { # WHAT ADVICE
  printf 'error: %s\n%s\n' "$1" "$2" >&2
  exit 1
}

# Makes an empty virtual environment for Python's packages. On Debian, python3's module venv is a separate package.
make_environment() { # FOLDER
  command -v python3 >/dev/null || fail "python3 is missing" "install it, for example with 'apt-get install python3-venv'"
  rm -rf "$1"
  mkdir -p "$(dirname "$1")"
  python3 -m venv "$1" || { install_packages python3-venv && python3 -m venv "$1"; } ||
    fail "python3 can't make a virtual environment" "install its module venv, for example with 'apt-get install python3-venv'"
}
