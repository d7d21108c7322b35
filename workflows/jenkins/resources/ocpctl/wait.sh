# Waits half an hour for a cluster, because a token of Jenkins is valid for an hour. The exit code is 124 if the cluster is not ready then.
set -eu
code=0
ocpctl wait --timeout "${OCPCTL_ROUND:-30m}" -- "$OCPCTL_CLUSTER_ID" || code=$?
[ "$code" -ne 7 ] || code=124 # it waits for an approval
if [ "$code" -ne 0 ] && [ "$code" -ne 124 ]; then
  ocpctl explain -- "$OCPCTL_CLUSTER_ID" || true
  ocpctl logs --lines 200 -- "$OCPCTL_CLUSTER_ID" || true
fi
exit "$code"
