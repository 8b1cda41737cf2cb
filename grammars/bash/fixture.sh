#!/usr/bin/env bash
# Shows every construct.
set -euo pipefail

source "$(dirname "$0")/lib/common.sh"
source ./colours.sh
. lib/strings.sh

readonly VERSION="1.2.3"
export PATH_EXTRA="/opt/bin" EDITOR
declare -A TABLE=([a]=1)
declare -r LIMIT=10
DEFAULT_TIMEOUT=${DEFAULT_TIMEOUT:-30}
FILES=(a b c)
alias ll='ls -l'

log() {
  local message=$1
  count=$((count + 1))
  printf '%s\n' "$message" >&2
}

function build_all {
  local target
  for target in "$@"; do
    build_one "$target" || die "no $target"
  done
}

function clean() (
  inner() { rm -rf "$1"; }
  inner "$BUILD_DIR"
)

if [[ -n "${DEBUG:-}" ]]; then
  trace() { set -x; }
fi

main() {
  case "$1" in
    build) build_all "$@" ;;
    *) log "usage: $0 build" ;;
  esac
  cat <<EOF | sort
$VERSION
EOF
}

main "$@"
