# What the scripted programs of the runner's own tests share. Each call is written to $OCPCTL_STANDIN_DIR/calls with its
# arguments, working directory, standard input and the files it found; its environment to environ. Then runs what a test
# put into on-<command> there.
D=$OCPCTL_STANDIN_DIR
dir=
for word in "$@"; do
  if [ "$previous" = "--dir" ]; then dir=$word; fi
  previous=$word
done
program=${0##*/}
say() { echo "level=info msg=$*" >&2; }
note() { echo "installer: $*" >>"$D/events"; }
hook() { if [ -e "$D/on-$1" ]; then . "$D/on-$1"; fi; }

{
  echo "$program $*"
  echo "  in $PWD, stdin $(readlink /proc/self/fd/0)"
  if [ -n "$dir" ]; then echo "  finds $(cd "$dir" && find . -type f | LC_ALL=C sort | tr '\n' ' ' | sed 's/ $//')"; fi
} >>"$D/calls"
tr '\0' '\n' </proc/$$/environ | LC_ALL=C sort >>"$D/environ"
