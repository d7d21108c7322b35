package config

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"regexp"
	"slices"

	"github.com/ocpctl/ocpctl/internal/dispatch"
	"github.com/ocpctl/ocpctl/internal/secret"
)

// roleForm matches the ARN of an IAM role, in any partition and with any path.
var roleForm = regexp.MustCompile(`^arn:aws[a-z-]*:iam::\d{12}:role/[\w+=,.@/-]+$`)

// version matches the version of an OpenShift release.
var version = regexp.MustCompile(`^\d+\.\d+\.\d+(-[0-9A-Za-z.]+)?$`)

// pinned matches an image with a digest, which never changes.
var pinned = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]*(:\d+)?(/[a-z0-9._-]+)+@sha256:[0-9a-f]{64}$`)

// checkRunner checks the settings for runners.
func (c Config) checkRunner() []error {
	var bad []error
	for _, r := range []struct{ field, ref, what string }{
		{"runner.cloud_credentials_ref", c.Runner.CloudCredsRef, `the keys for AWS: {"aws_access_key_id": …, "aws_secret_access_key": …}`},
		{"runner.ssh_key_ref", c.Runner.SSHKeyRef, "a private ssh key without a passphrase"},
	} {
		if r.ref != "" && !isRef(r.ref) {
			bad = append(bad, fmt.Errorf("%s is not a reference; give a reference (%s) to %s, or omit it", r.field, secret.References, r.what))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Runner.Releases)) {
		if !version.MatchString(name) {
			bad = append(bad, fmt.Errorf("runner.releases has the version %q; give a version such as 4.20.3", name))
		}
		if image := c.Runner.Releases[name]; !pinned.MatchString(image) {
			bad = append(bad, fmt.Errorf("runner.releases[%s] is %q; give the release image by digest, e.g. quay.io/openshift-release-dev/ocp-release@sha256:<64 hex digits>",
				name, image))
		}
	}
	return append(append(bad, c.checkRunnerAWS()...), c.Runner.checkDispatch()...)
}

// How runners are started.
const (
	DispatchProcess    = "process"
	DispatchKubernetes = "kubernetes"
)

// checkDispatch checks how runners are started.
func (r Runner) checkDispatch() []error {
	switch r.Dispatch {
	case DispatchProcess:
		return nil
	case DispatchKubernetes:
		return r.Kubernetes.Check()
	}
	return []error{fmt.Errorf("runner.dispatch is %q; give process for runners on the server's own machine, or kubernetes for one Job per attempt", r.Dispatch)}
}

// checkRunnerAWS checks runners' AWS settings.
func (c Config) checkRunnerAWS() (bad []error) {
	if role := c.Artifacts.RunnerRole; role != "" && !roleForm.MatchString(role) {
		bad = append(bad, fmt.Errorf("artifacts.runner_role is %q; give the ARN of a role, e.g. arn:aws:iam::123456789012:role/ocpctl-runner-artifacts", role))
	}
	for _, key := range slices.Sorted(maps.Keys(c.Runner.Env)) {
		if secret.IBMVariable(key) {
			bad = append(bad, fmt.Errorf("runner.env contains %q, a credential of IBM Cloud, which runners read only by reference; omit it and set clouds.ibmcloud.credentials_ref", key))
			continue
		}
		if len(dispatch.Allowed([]string{key + "="})) == 0 {
			bad = append(bad, fmt.Errorf("runner.env contains %q, which is not passed to runners; give AWS_…, IBMCLOUD_… (but no credential), OTEL_EXPORTER_OTLP_… or OTEL_TRACES_… variables, OCPCTL_PERMISSIONS_BOUNDARY, OCPCTL_IMAGE_CACHE, proxies, SSL_CERT_FILE or SSL_CERT_DIR, PATH, HOME or TMPDIR", key))
		}
	}
	return bad
}

// Environment returns runner.env in the form of a process environment.
func (r Runner) Environment() (env []string) {
	for _, key := range slices.Sorted(maps.Keys(r.Env)) {
		env = append(env, key+"="+r.Env[key])
	}
	return env
}

// checkRunners checks the listener for runners.
func (l Listen) checkRunners(r Roles) (bad []error) {
	if l.Runners == "" {
		if l.RunnersCertFile != "" || l.RunnersKeyFile != "" {
			bad = append(bad, errors.New("listen.runners_cert_file or listen.runners_key_file is set without listen.runners; give listen.runners a host:port, or omit them"))
		}
		return bad
	}
	if _, port, err := net.SplitHostPort(l.Runners); r.Has(APIRole) && (err != nil || port == "" || l.Runners == l.Public || l.Runners == l.Private) {
		bad = append(bad, fmt.Errorf("listen.runners is %q; give a host:port that no other listener has, or omit it", l.Runners))
	}
	if r.Has(APIRole) && (l.RunnersCertFile == "" || l.RunnersKeyFile == "") {
		bad = append(bad, errors.New("listen.runners needs listen.runners_cert_file and listen.runners_key_file: give the files (PEM) of the certificate and its key"))
	}
	return bad
}
