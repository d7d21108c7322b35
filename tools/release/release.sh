#!/usr/bin/env bash
# Builds a release of the commit that is checked out: programs for every platform, an SBOM (CycloneDX) for each, container images as
# OCI archives, checksums. RUNNER_BASE and CLI_BASE name what the images of the runner and of pipelines' steps are built on: an OCI archive,
# or an image by digest. CLI_BASE=none leaves the latter out.
# The same commit gives the same bytes on every machine with the same Go version. Needs a clean working tree, Go, git and GNU tar.
# A tagged commit is built only if .ci/run, which takes about forty minutes, passes. Without a tag, nothing is tested: that is no release.
set -euo pipefail
cd "$(dirname "$0")/../.."
out=${1:-dist}

if [ -n "$(git status --porcelain)" ]; then
  echo "release: the working tree has changes; commit or stash them first, so that the version says what was built" >&2
  exit 1
fi
releases='v[0-9]*.[0-9]*.[0-9]*' # not the tag v1, which moves
version=$(git describe --tags --match "$releases" --always)
if tag=$(git describe --tags --exact-match --match "$releases" 2>/dev/null) && [ "$tag" != "$(cat workflows/version)" ]; then
  echo "release: this commit is $tag, but its actions would download $(cat workflows/version); write $tag in workflows/version, commit, and tag that commit" >&2
  exit 1
fi
if [ -n "$tag" ] && [ -z "${CLI_BASE:-}" ]; then
  echo "release: Tekton's documents and GitLab's component use the image ocpctl-cli, which needs a base with a shell and oc; give CLI_BASE=image@sha256:…, or CLI_BASE=none to release $tag without the image" >&2
  exit 1
fi
others=$(grep 'uses: ocpctl/ocpctl/' workflows/pr-cluster.yml | grep -vF "@$(cat workflows/version)" || true)
if [ -n "$tag" ] && [ -n "$others" ]; then
  echo "release: workflows/pr-cluster.yml uses actions of another release than $(cat workflows/version); name that release's exact tag there and in .github/workflows, commit, and tag that commit" >&2
  exit 1
fi
if [ -n "$tag" ] && ! .ci/run >&2; then
  echo "release: the tests or the long checks of $tag fail (above); nothing was built. Repair what they show, commit, and move the tag" >&2
  exit 1
fi
when=$(git log -1 --format=%ct)
export CGO_ENABLED=0 GOFLAGS=-trimpath LC_ALL=C TZ=UTC
rm -rf "$out"
mkdir -p "$out"
out_path=$(cd "$out" && pwd)
sbom=$(mktemp)
trap 'rm -f "$sbom"' EXIT
(unset GOFLAGS; go build -o "$sbom" -modfile=tools/release/go.mod github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod)

images=$(mktemp)
trap 'rm -f "$sbom" "$images"' EXIT
(unset GOFLAGS; go -C tools/images build -o "$images" .)

# image NAME ARCH PROGRAM FLAG...: an OCI archive of a program that pack has built; its SBOM is the program's
image() {
  local name=$1 arch=$2 program=$3
  shift 3
  "$images" build -program "$staged/$program" -arch "$arch" -version "$version" -revision "$(git rev-parse HEAD)" \
    -created "$(date -u -d "@$when" +%Y-%m-%dT%H:%M:%SZ)" -out "$out/$name-$version-linux-$arch.oci.tar" "$@" > /dev/null
}

# pack PLATFORM PROGRAM...: one archive of programs, and their SBOMs beside it
pack() {
  local os=${1%/*} arch=${1#*/} stage
  shift
  stage=$(mktemp -d)
  for program in "$@"; do
    GOOS=$os GOARCH=$arch go build -buildvcs=true -ldflags '-s -w' -o "$stage/" "./cmd/$program"
    GOOS=$os GOARCH=$arch "$sbom" app -json -noserial -main "cmd/$program" -output "$out/$program-$version-$os-$arch.cdx.json" . 2>/dev/null
    # the only thing in it that changes from run to run is when it was written
    sed -i -E "s/(\"timestamp\": \")[^\"]*/\1$(date -u -d "@$when" +%Y-%m-%dT%H:%M:%SZ)/" "$out/$program-$version-$os-$arch.cdx.json"
  done
  local name=$out/$1-$version-$os-$arch.tar.gz
  [ $# -eq 1 ] || name=$out/ocpctl-server-and-runner-$version-$os-$arch.tar.gz
  tar --sort=name --mtime="@$when" --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX -C "$stage" -cf - . | gzip -n9 > "$name"
  staged=$stage
}

for arch in amd64 arm64; do
  pack "linux/$arch" ocpctl-server ocpctl-runner
  image ocpctl-server "$arch" ocpctl-server
  image ocpctl-runner "$arch" ocpctl-runner -dir /work -dir /installers -base "${RUNNER_BASE:-}"
done
echo "# SHA-256 of the archives of releases and of the programs in them, written by make release." > "$out/checksums"
for platform in linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64; do
  pack "$platform" ocpctl
  name=ocpctl-$version-${platform/\//-}
  (cd "$out" && sha256sum -- "$name.tar.gz" >> checksums)
  (cd "$staged" && sha256sum -- ocpctl* | sed "s|  |  $name/|" >> "$out_path/checksums")
  case $platform/${CLI_BASE:-none} in
    linux/*/none) ;;
    linux/*) image ocpctl-cli "${platform#*/}" ocpctl -base "$CLI_BASE" ;;
  esac
done
(cd "$out" && sha256sum -- * > SHA256SUMS) # of checksums, too, which goes into workflows/checksums
echo "$version is in $out:"
(cd "$out" && ls -1)
