#!/usr/bin/env bash
# Packs crates and sends them off.
set -euo pipefail

source "$(dirname "$0")/lib/log.sh"
. ./lib/crate.sh

readonly MAX_CRATES=12
export CRATE_DIR="${CRATE_DIR:-/tmp/crates}" CRATE_MODE=fast
declare -A SIZES=([small]=1 [large]=9)
declare -i COUNT=0
PACKER=${PACKER:-tar}
lower=only_local

alias pack='crate::pack --fast'

log::info() {
  local message="$1"
  printf '%s\n' "$message" >&2
}

log::warn() { log::info "warning: $1"; }

# Packs one crate.
# $1: the name
function crate::pack {
  local name="$1" size="${2:-small}"
  inner() { echo inner; }
  for file in "$CRATE_DIR"/*; do
    "$PACKER" cf "$name.tar" "$file"
  done
}

function seal-crate() (
  cd "$CRATE_DIR" || exit
  COUNT=$((COUNT + 1))
  sha256sum "$1"
)

if [[ "$CRATE_MODE" == fast ]]; then
  ship() { crate::pack "$1" small; }
else
  ship() { crate::pack "$1" large; }
fi

usage() {
  cat <<'TEXT'
usage: pack NAME
not_a_function() { :; }
TEXT
}

main() {
  case "${1:-}" in
    -h | --help) usage ;;
    *) ship "$@" ;;
  esac
}

trap 'log::warn "stopped"' INT
main "$@"
