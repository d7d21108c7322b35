# Waits half an hour for a cluster, because a token of Jenkins is valid for an hour. The exit code is 124 if the cluster is not ready then.
set -eu
code=0
ocpctl wait "$OCPCTL_CLUSTER_ID" --timeout "${OCPCTL_ROUND:-30m}" || code=$?
if [ "$code" -ne 0 ] && [ "$code" -ne 124 ]; then
  ocpctl explain "$OCPCTL_CLUSTER_ID" || true
  ocpctl logs "$OCPCTL_CLUSTER_ID" --lines 200 || true
fi
exit "$code"
