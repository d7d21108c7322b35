# Destroys a build's cluster, and does not wait for it.
set -eu
rm -f "$KUBECONFIG"
ocpctl destroy --yes --reason "its build released it" -- "$OCPCTL_CLUSTER_ID"
