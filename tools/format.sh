#!/usr/bin/env bash
# Formats all C++ with clang-format 19; --check changes nothing and fails where something would change.
set -euo pipefail

case "${1:-}" in
  "") mode=(-i) ;;
  --check) mode=(--dry-run --Werror) ;;
  -h | --help) echo "usage: tools/format.sh [--check]"; exit 0 ;;
  *) echo "format: unknown option '$1'; usage: tools/format.sh [--check]" >&2; exit 2 ;;
esac

cd "$(dirname "$0")/.."
formatter=${CLANG_FORMAT:-clang-format-19}
command -v "$formatter" >/dev/null || { echo "format: no $formatter; run tools/install-deps.sh --test" >&2; exit 2; }
folders=()
for folder in luminal apps tests examples python; do
  [ -d "$folder" ] && folders+=("$folder")
done
find "${folders[@]}" -name '*.h' -o -name '*.cpp' | sort | xargs --no-run-if-empty "$formatter" "${mode[@]}"
