#!/usr/bin/env bash
# Finds ocpctl, or downloads and verifies it, and runs one of its actions: run.sh ACTION. Every action.yml beside this folder calls it.
# With "plan" it only says which release is meant and where its archive is kept, for the cache.
#
#   OCPCTL_VERSION       a release, or "installed" for the ocpctl on the PATH
#   OCPCTL_PROGRAM       without a version: this ocpctl is used, and nothing is downloaded; default: the release of these actions
#   OCPCTL_DOWNLOAD_URL  where the releases are: URL/VERSION/FILE, with SHA256SUMS beside each file
#
# The file workflows/checksums has the checksums of releases. A release that is not in it is verified with its own SHA256SUMS.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
own=$(tr -d '\r\n' < "$here/../version")
given=${OCPCTL_PROGRAM:-}
[ -z "${OCPCTL_VERSION:-}" ] || given=
version=${OCPCTL_VERSION:-$own}
url=${OCPCTL_DOWNLOAD_URL:-https://github.com/ocpctl/ocpctl/releases/download}
url=${url%/}

fail() {
  printf '::error title=ocpctl::%s\n' "$1"
  exit 1
}

if [ "$version" != installed ] && ! [[ $version =~ ^v[0-9]+\.[0-9]+\.[0-9]+$ ]]; then
  fail 'The input version is not a release of ocpctl. Give one such as v1.2.3, or "installed".'
fi
case ${RUNNER_OS:-$(uname -s)} in
  Linux) os=linux ;;
  macOS | Darwin) os=darwin ;;
  Windows | MINGW* | MSYS*) os=windows ;;
  *) fail 'There is no ocpctl for the operating system of this runner. Use one with Linux, macOS or Windows.' ;;
esac
case ${RUNNER_ARCH:-$(uname -m)} in
  X64 | x86_64) arch=amd64 ;;
  ARM64 | arm64 | aarch64) arch=arm64 ;;
  *) fail 'There is no ocpctl for the processor of this runner. Use one with X64 or ARM64.' ;;
esac
file=ocpctl-$version-$os-$arch.tar.gz
program=ocpctl
[ $os = windows ] && program=ocpctl.exe
tools=${RUNNER_TOOL_CACHE:-${RUNNER_TEMP:-${TMPDIR:-/tmp}}}/ocpctl/$version
tool=$tools/$arch

# fetch FILE INTO downloads one file of the release.
fetch() {
  local protocols='=https'
  [[ $url =~ ^http://(127\.0\.0\.1|localhost)(:[0-9]+)?(/|$) ]] && protocols='=http,https'
  curl --fail --silent --show-error --location --proto "$protocols" --proto-redir "$protocols" --retry 3 --connect-timeout 10 --max-time 300 \
    --output "$2" "$url/$version/$1" ||
    fail "$1 of ocpctl $version cannot be downloaded. Check that the release exists, and that the runner can reach the download address, or set the input download-url to a mirror."
}

# The tools read from their standard input, because a path on Windows has colons and backslashes: sha256sum escapes its line for
# such a file, and tar looks for a host of that name.
sha256() {
  if command -v sha256sum > /dev/null; then sha256sum < "$1"; else shasum -a 256 < "$1"; fi | cut -d ' ' -f 1
}

# pinned NAME prints the checksum of an archive or of an unpacked program, if these actions have one.
pinned() {
  tr -d '\r' < "$here/../checksums" | awk -v "name=$1" '$2 == name { print $1 }'
}

# verified tells whether the unpacked program is the one of the release. Where these actions have no checksum, it is the one that was
# noted when the archive had been verified.
verified() {
  [ -f "$tool.complete" ] && [ -f "$tool/$program" ] || return 1
  local want
  want=$(pinned "ocpctl-$version-$os-$arch/$program")
  [ "$(sha256 "$tool/$program")" = "${want:-$(cat "$tool.complete")}" ]
}

# install unpacks the release into the tool cache. The archive is verified each time, wherever it comes from. Jobs that share the cache
# may do this at once: each works in a folder of its own, and the first one that is ready moves it to its place.
install() {
  local want from='of these actions' archive=$tools/download/$file
  mkdir -p "$tools/download"
  work=$(mktemp -d "$tools/.work.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  want=$(pinned "$file")
  if [ -z "$want" ]; then
    from='in SHA256SUMS of the release'
    echo "These actions have no checksum of ocpctl $version. It is verified with SHA256SUMS of the release."
    fetch SHA256SUMS "$work/SHA256SUMS"
    want=$(awk -v "file=$file" '$2 == file || $2 == "*" file { print $1 }' "$work/SHA256SUMS")
  fi
  if [ ! -f "$archive" ]; then
    archive=$work/$file
    fetch "$file" "$archive"
  fi
  if ! [[ $want =~ ^[0-9a-f]{64}$ ]] || [ "$(sha256 "$archive")" != "$want" ]; then
    rm -f "$archive"
    fail "The checksum of $file is not the one $from. It was deleted, and is not used. Run the job again; if the error stays, ask whoever runs the mirror."
  fi
  mkdir "$work/$arch"
  (cd "$work/$arch" && tar -xz) < "$archive"
  sha256 "$work/$arch/$program" > "$work/complete"
  if [ -f "$tool/$program" ] && [ "$(sha256 "$tool/$program")" != "$(cat "$work/complete")" ]; then
    rm -rf "$tool" # somebody changed it
  fi
  # Over a folder that has files, mv fails: another job was first.
  mv "$work/$arch" "$tools/" 2> /dev/null || [ -f "$tool/$program" ] || fail "ocpctl $version cannot be moved to $tool in the runner's tool cache. Check that the job may write there."
  mv "$work/complete" "$tool.complete"
  verified || fail "The program in $file is not the one whose checksum these actions have. It is not used."
  if [ "${OCPCTL_KEEP_ARCHIVE:-}" = true ] && [ ! -f "$tools/download/$file" ]; then
    mv "$archive" "$tools/download/$file"
  fi
  rm -rf "$work"
}

if [ "$1" = plan ]; then
  found=false
  if [ -n "$given" ] || [ "$version" = installed ] || [ -f "$tool.complete" ]; then found=true; fi
  printf 'version=%s\ndownload=%s\nfound=%s\n' "$version" "$tools/download" "$found" >> "$GITHUB_OUTPUT"
  exit
fi
if [ -n "$given" ]; then
  chosen=$given
elif [ "$version" = installed ]; then
  chosen=$(command -v ocpctl) || fail 'ocpctl is not on the PATH. Install it on the runner, or leave the input version empty.'
else
  verified || install
  chosen=$tool/$program
fi
export OCPCTL_ACTION_VERSION=$own
exec "$chosen" action "$1"
