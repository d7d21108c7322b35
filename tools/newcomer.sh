#!/usr/bin/env bash
# Walks the README's two commands as a newcomer does: in a fresh Debian that has only Go, git, make and a C compiler, with empty caches, on a clone of
# this commit. Prints how long make demo takes until its pages answer. newcomer.sh 'COMMAND' runs COMMAND there afterwards; "true": nothing.
set -euo pipefail
cd "$(dirname "$0")/.."
after=${1:-make test}
[ "$(id -u)" = 0 ] && command -v debootstrap >/dev/null || { echo "newcomer.sh needs root and debootstrap" >&2; exit 1; }
root=$(mktemp -d)
cleanup() {
  [ -z "${demo:-}" ] || kill -INT "$demo" 2>/dev/null || true
  for at in dev/shm dev/pts dev proc sys; do umount -l "$root/$at" 2>/dev/null || true; done
  rm -rf "$root"
}
trap cleanup EXIT
debootstrap --variant=minbase --include=ca-certificates,git,make,gcc,libc6-dev bookworm "$root" "${MIRROR:-http://deb.debian.org/debian}" >/dev/null
cp -a "$(go env GOROOT)" "$root/usr/local/go"
cp /etc/resolv.conf "$root/etc/" && cp /etc/hosts "$root/etc/"
for at in proc sys dev dev/pts; do mount --rbind "/$at" "$root/$at" 2>/dev/null || mount --bind "/$at" "$root/$at"; done
git clone -q --no-hardlinks . "$root/root/ocpctl"
inside() { chroot "$root" /usr/bin/env -i HOME=/root PATH=/usr/local/go/bin:/usr/bin:/bin:/usr/sbin:/sbin GOPROXY="$(go env GOPROXY)" GOSUMDB="$(go env GOSUMDB)" GOTOOLCHAIN=local sh -c "cd /root/ocpctl && $1"; }
began=$(date +%s)
inside 'exec make demo' >"$root/demo.log" 2>&1 &
demo=$!
until (exec 3<>/dev/tcp/127.0.0.1/8082) 2>/dev/null; do
  kill -0 "$demo" 2>/dev/null || { cat "$root/demo.log"; echo "make demo ended" >&2; exit 1; }
  sleep 1
done
echo "make demo was up after $(($(date +%s) - began)) s, in a fresh Debian with empty caches"
pkill -INT -P "$demo" ocpctl-demo 2>/dev/null || kill -INT "$demo"
wait "$demo" || true
demo=
inside "$after"
