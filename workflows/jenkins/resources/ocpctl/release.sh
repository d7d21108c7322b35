# Destroys a build's cluster, and does not wait for it.
set -eu
rm -f "$KUBECONFIG"
ocpctl destroy "$OCPCTL_CLUSTER_ID" --yes --reason "its build released it"
