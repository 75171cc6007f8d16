#!/usr/bin/env bash
# Makes a release: a folder with the tarball, the Debian package and their checksums. docs/install.md says what is in them.
# Make it on Debian 12: what is linked on a newer system needs a newer glibc.
set -euo pipefail

usage() {
  cat <<'USAGE'
usage: tools/make-release.sh [--output DIR] [--build-dir DIR] [--jobs N]
  --output DIR     where the files go, replacing those of a release before (default: release in the project's root)
  --build-dir DIR  where they are built (default: build/package)
  --jobs N         compile N sources at once (default: one per core)
USAGE
}

cd "$(dirname "$0")/.."
output=$PWD/release
build=$PWD/build/package
jobs=$(nproc)
while [ $# -gt 0 ]; do
  case "$1" in
    --output) [ $# -ge 2 ] || { usage >&2; exit 2; }; output=$(realpath -m "$2"); shift 2 ;;
    --build-dir) [ $# -ge 2 ] || { usage >&2; exit 2; }; build=$(realpath -m "$2"); shift 2 ;;
    --jobs) [ $# -ge 2 ] || { usage >&2; exit 2; }; jobs=$2; shift 2 ;;
    -h | --help) usage; exit 0 ;;
    *) echo "make-release: unknown option '$1'" >&2; usage >&2; exit 2 ;;
  esac
done
for tool in cmake cpack dpkg-shlibdeps file sha256sum; do
  command -v "$tool" >/dev/null || { echo "make-release: no $tool; run tools/install-deps.sh --test" >&2; exit 1; }
done

# The same commit gives the same times in the archives.
if commit_time=$(git log -1 --format=%ct 2>/dev/null); then
  export SOURCE_DATE_EPOCH=$commit_time
fi
cmake --preset package -B "$build" -D LUMINAL_WERROR=ON
cmake --build "$build" --parallel "$jobs"

mkdir -p "$output"
rm -f "$output"/luminal-*.tar.gz "$output"/luminal_*.deb "$output"/SHA256SUMS
packages=$build/packages
rm -rf "$packages"
for generator in TGZ DEB; do
  cpack -G "$generator" -B "$packages" --config "$build/CPackConfig.cmake"
done
cp "$packages"/luminal-*.tar.gz "$packages"/luminal_*.deb "$output"
# CPack 3.25 counts a library once more for each link to it, and apt would announce three times the size.
deb=$(echo "$output"/luminal_*.deb)
dpkg-deb --raw-extract "$deb" "$packages/deb"
size=$(du --apparent-size --summarize --block-size=1024 "$packages/deb/usr" | cut -f 1)
sed -i "s/^Installed-Size: .*/Installed-Size: $size/" "$packages/deb/DEBIAN/control"
dpkg-deb --root-owner-group -Zxz --build "$packages/deb" "$deb" >/dev/null
cd "$output"
sha256sum luminal-*.tar.gz luminal_*.deb >SHA256SUMS
echo "make-release: $output has"
ls -l --block-size=1 | awk 'NF > 2 {printf "  %-40s %6.1f MB\n", $9, $5 / 1e6}'
