# Asks for a cluster for a build, and prints its id. The same build gets the same cluster.
set -eu
set -- --name "ci-$(printf %s "$BUILD_URL" | cksum | cut -d ' ' -f 1)" --ttl "$OCPCTL_TTL" --idempotency-key "$BUILD_URL"
[ -z "$OCPCTL_VERSION" ] || set -- "$@" --version "$OCPCTL_VERSION"
[ -z "$OCPCTL_REGION" ] || set -- "$@" --region "$OCPCTL_REGION"
[ -z "$OCPCTL_TEAM" ] || set -- "$@" --team "$OCPCTL_TEAM"
[ -z "$OCPCTL_PROFILE" ] || set -- "$@" -- "$OCPCTL_PROFILE"
ocpctl create -o field=clusterId "$@"
