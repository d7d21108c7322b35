#!/usr/bin/env bash
# Walks the README's two commands as a newcomer does: in a fresh Debian that has only Go, git, make and a C compiler, with empty caches, on a clone of
# this commit. Prints how long make demo takes until its pages answer. newcomer.sh 'COMMAND' runs COMMAND there afterwards; "true": nothing.
# MIRROR=URL is another mirror of Debian.
set -euo pipefail
cd "$(dirname "$0")/.."
after=${1:-make test}
[ "$(id -u)" = 0 ] && command -v debootstrap >/dev/null || { echo "newcomer.sh needs root and debootstrap" >&2; exit 1; }
# In a mount namespace of its own: what is mounted below, and unmounted at the end, is not the machine's.
[ -n "${NEWCOMER:-}" ] || NEWCOMER=1 exec unshare --mount --propagation private "tools/$(basename "$0")" "$after"
port=18180 # a demo of this machine has others
answers() { (exec 3<>/dev/tcp/127.0.0.1/$port && printf 'GET /readyz HTTP/1.0\r\n\r\n' >&3 && head -n 1 <&3 | grep -q ' 200 ') 2>/dev/null; }
root=$(mktemp -d) && chmod 755 "$root" # apt reads as a user of its own
stop() { kill -INT "$(cat "$root/root/ocpctl/.demo/demo.pid" 2>/dev/null)" 2>/dev/null || kill "$demo" 2>/dev/null || true; }
cleanup() {
  [ -z "${demo:-}" ] || { stop; wait "$demo" || true; }
  umount -R -l "$root" 2>/dev/null || true
  rm -rf --one-file-system "$root"
}
trap cleanup EXIT
echo "making a Debian in $root (three minutes) …"
debootstrap --variant=minbase --include=ca-certificates,git,make,gcc,libc6-dev bookworm "$root" "${MIRROR:-http://deb.debian.org/debian}" >"$root.log" ||
  { cat "$root.log" >&2; rm -f "$root.log"; exit 1; }
rm -f "$root.log"
cp -a "$(go env GOROOT)" "$root/usr/local/go"
cp /etc/resolv.conf /etc/hosts "$root/etc/" && cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/" # the machine's network may have its own
mount --bind "$root" "$root"
for at in proc sys dev; do mount --rbind "/$at" "$root/$at"; done
git clone -q --no-hardlinks . "$root/root/ocpctl"
# inside runs a command there. In a chroot, the kernel would forbid user namespaces, in which PostgreSQL runs for root.
inside() {
  exec unshare --mount --propagation private sh -c 'cd "$0" && pivot_root . mnt && cd / && umount -l /mnt &&
    exec /usr/bin/env -i HOME=/root PATH=/usr/local/go/bin:/usr/bin:/bin:/usr/sbin:/sbin GOPROXY="$1" GOSUMDB="$2" GOTOOLCHAIN=local sh -c "cd /root/ocpctl && $3"' \
    "$root" "$(go env GOPROXY)" "$(go env GOSUMDB)" "$1"
}
began=$(date +%s)
(inside "exec env OCPCTL_DEMO_PORT=$port make demo") >"$root/demo.log" 2>&1 &
demo=$!
until answers; do
  kill -0 "$demo" 2>/dev/null || { demo=; tail -50 "$root/demo.log" >&2; echo "make demo ended" >&2; exit 1; }
  sleep 1
done
echo "make demo was up after $(($(date +%s) - began)) s, in a fresh Debian with empty caches"
stop
wait "$demo" || true
demo=
(inside "$after")
