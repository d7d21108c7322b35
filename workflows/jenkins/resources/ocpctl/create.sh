# Asks for a cluster for a build, and prints its id. The same build gets the same cluster for the same slot, which is its stage if none is
# given.
set -eu
unique=$(printf '%s\n%s' "$BUILD_URL" "${OCPCTL_SLOT:-${STAGE_NAME:-}}" | cksum | cut -d ' ' -f 1)
set -- --name "ci-$unique" --ttl "$OCPCTL_TTL" --idempotency-key "$BUILD_URL#$unique"
[ -z "$OCPCTL_VERSION" ] || set -- "$@" --version "$OCPCTL_VERSION"
[ -z "$OCPCTL_REGION" ] || set -- "$@" --region "$OCPCTL_REGION"
[ -z "$OCPCTL_TEAM" ] || set -- "$@" --team "$OCPCTL_TEAM"
[ -z "$OCPCTL_PROFILE" ] || set -- "$@" -- "$OCPCTL_PROFILE"
ocpctl create -o field=clusterId "$@"
