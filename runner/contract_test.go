package runner_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/s3/s3test"
	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/secret"
	"github.com/ocpctl/ocpctl/runner/cloud"
)

var update = flag.Bool("update", false, "write the golden files anew")

// crowded is an environment with everything a runner may be started with, wanted or not.
func crowded(w *world) []string {
	return []string{
		"PATH=/usr/bin:/bin", "HOME=/home/me", "OCPCTL_ATTEMPT=att_1", "OCPCTL_STANDIN_DIR=" + w.dir, "HTTPS_PROXY=http://proxy.example.com:3128",
		"NO_PROXY=169.254.169.254", "SSL_CERT_FILE=/etc/ca.pem", "AWS_REGION=us-east-1", "AWS_CA_BUNDLE=/etc/ca.pem",
		// None of what follows may reach a program.
		"AWS_ACCESS_KEY_ID=" + s3test.AccessKey, "AWS_SECRET_ACCESS_KEY=" + s3test.SecretKey, "AWS_SESSION_TOKEN=CANARY", "AWS_PROFILE=mine",
		"AWS_ROLE_ARN=arn:aws:iam::123456789012:role/x", "AWS_WEB_IDENTITY_TOKEN_FILE=/token", "AWS_CONTAINER_CREDENTIALS_FULL_URI=http://169.254.170.23",
		"OPENSHIFT_INSTALL_PRESERVE_BOOTSTRAP=true", "OPENSHIFT_INSTALL_RELEASE_IMAGE_OVERRIDE=quay.io/other:latest", "OPENSHIFT_INSTALL_REENTRANT=true",
		"DATABASE_URL=postgres://CANARY", "KUBECONFIG=/home/me/.kube/config", "REGISTRY_AUTH_FILE=/home/me/auth.json",
	}
}

// pipe is what a program reads from where it is given something.
var pipe = regexp.MustCompile(`pipe:\[\d+\]`)

// called is every program the attempt ran, in order, with its working directory, its standard input, the files it found
// in its --dir, and last the one environment all of them had. What differs from run to run has a name instead.
func (w *world) called(ccoName string) string {
	w.t.Helper()
	text := readFile(w.t, filepath.Join(w.dir, "calls"))
	environ := strings.Split(strings.TrimSpace(readFile(w.t, filepath.Join(w.dir, "environ"))), "\n")
	slices.Sort(environ)
	text += "environment of each\n  " + strings.Join(slices.Compact(environ), "\n  ") + "\n"
	text = pipe.ReplaceAllString(text, "pipe")
	return strings.NewReplacer(w.cfg.WorkDir, "WORK", w.dir, "TEST", ccoName, "NAME").Replace(text)
}

// The installer's contract: what is run, how and in which order. A change of this file is a change of what happens in
// somebody's account.
func TestProgramsAreRunExactlyAsAgreed(t *testing.T) {
	created := manual(t, contract.KindCreate)
	created.cfg.Env = crowded(created)
	require.NoError(t, created.run(t.Context()))
	require.Equal(t, "succeeded", created.result().Outcome, created.result().Message)

	destroyed := newWorld(t, contract.KindDestroy)
	destroyed.cfg.Env = crowded(destroyed)
	record := created.records[1]
	destroyed.spec.Bucket, destroyed.spec.Identities, destroyed.spec.Snapshots = created.spec.Bucket, []contract.Identity{record.Identity}, record.Snapshots
	require.NoError(t, destroyed.run(t.Context()))
	require.Equal(t, "succeeded", destroyed.result().Outcome, destroyed.result().Message)

	scaled := newScaling(t, 0, 1, 1)
	scaled.cfg.Env = crowded(scaled)
	require.NoError(t, scaled.run(t.Context()))
	require.Equal(t, "succeeded", scaled.result().Outcome, scaled.result().Message)

	configured := refreshed(t)
	configured.cfg.Env = crowded(configured)
	require.NoError(t, configured.run(t.Context()))
	require.Equal(t, "succeeded", configured.result().Outcome, configured.result().Message)

	name := record.Identity.CCOName
	got := "# create\n" + created.called(name) + "\n# destroy\n" + destroyed.called(name) + "\n# scale\n" + scaled.called(name) + "\n# configure\n" + configured.called(name)
	golden := filepath.Join("testdata", "contract.golden")
	if *update {
		require.NoError(t, os.WriteFile(golden, []byte(got), 0o644))
	}
	require.Equal(t, readFile(t, golden), got)
	for _, canary := range []string{"CANARY", s3test.SecretKey, s3test.AccessKey} {
		require.NotContains(t, got, canary)
	}
}

// What each documented exit code of `create cluster` means.
func TestEachExitCodeLeadsToItsOutcome(t *testing.T) {
	for code, c := range map[int]struct {
		reason    string
		whose     string
		retryable bool
	}{
		1: {"InstallFailed", contract.WhoseInstaller, false},
		3: {"InvalidInstallConfig", contract.WhoseOurs, false},
		4: {"InfrastructureFailed", contract.WhoseCloud, true},
		5: {"BootstrapFailed", contract.WhoseInstaller, true},
		6: {"ClusterNotInitialized", contract.WhoseInstaller, true},
		7: {"OperatorsNotStable", contract.WhoseInstaller, true},
		8: {"InstallerEndedFromOutside", contract.WhoseOurs, true},
	} {
		t.Run(fmt.Sprintf("exit code %d", code), func(t *testing.T) {
			w := newWorld(t, contract.KindCreate)
			w.on("create", fmt.Sprintf(`exit %d`, code))
			w.on("wait-for", fmt.Sprintf(`exit %d`, code))
			require.NoError(t, w.run(t.Context()))
			result := w.result()
			require.Equal(t, "failed", result.Outcome)
			require.Equal(t, c.reason, result.Reason)
			require.Equal(t, c.whose, result.Whose)
			require.Equal(t, c.retryable, result.Retryable)
			require.Contains(t, result.Message, fmt.Sprintf("exit code %d", code))
			require.NotEmpty(t, result.Next)
			calls := readFile(t, filepath.Join(w.dir, "calls"))
			require.Equal(t, code == 5, strings.Contains(calls, "openshift-install gather bootstrap "), "machines that failed are looked into")
			require.Equal(t, code == 6 || code == 7, strings.Contains(calls, "openshift-install wait-for install-complete "), "late operators are waited for")
			require.Equal(t, 1, strings.Count(calls, "openshift-install create cluster "), "a directory is never used twice")
		})
	}
}

func TestEveryProgramIsRunWithTheSameKeys(t *testing.T) {
	w := manual(t, contract.KindCreate)
	w.own(cloud.Keys{ID: "ASIA1", Secret: secret.New("CANARY-secret"), Token: secret.New("CANARY-token")})
	w.on("ccoctl", `cp "$AWS_SHARED_CREDENTIALS_FILE" "$D/seen-by-ccoctl"`)
	w.on("create", `cp "$AWS_SHARED_CREDENTIALS_FILE" "$D/seen-by-installer"`)
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, "succeeded", w.result().Outcome)
	seen := readFile(t, filepath.Join(w.dir, "seen-by-ccoctl"))
	require.Contains(t, seen, "aws_session_token = CANARY-token")
	require.Equal(t, seen, readFile(t, filepath.Join(w.dir, "seen-by-installer")))
}
