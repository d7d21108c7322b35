package oc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/ocpctl/ocpctl/devstack/installer/release"
	"github.com/ocpctl/ocpctl/devstack/installer/resources"
	"github.com/ocpctl/ocpctl/devstack/must"
)

// installConfig is the part of an install-config that --included reads.
type installConfig struct {
	Metadata struct{ Name string }
	Platform map[string]any
}

func (r *run) readInstallConfig() (config installConfig, err error) {
	defer must.Catch(&err)
	raw := must.Get(os.ReadFile(r.installConfig))
	must.Wrap(yaml.Unmarshal(raw, &config), "unable to parse %s", r.installConfig)
	must.FailIf(len(config.Platform) == 0, "unable to parse %s: it names no platform", r.installConfig)
	return config, nil
}

// cluster returns the name in the install-config, for the faults; without one it is unknown.
func (r *run) cluster() (string, error) {
	if r.installConfig == "" {
		return "", nil
	}
	config, err := r.readInstallConfig()
	return config.Metadata.Name, err
}

// extract is `oc adm release extract`: a program, or the credentials requests.
func (r *run) extract(image string) (err error) {
	defer must.Catch(&err)
	version := must.Get(release.Find(image))
	must.FailIf(r.command != "" && r.requests, "--command and --credentials-requests may not be specified together")
	switch {
	case r.command != "":
		must.FailIf(!slices.Contains([]string{"openshift-install", "ccoctl", "oc"}, r.command),
			"command %q is not supported by the stand-in; it has openshift-install, ccoctl and oc", r.command)
		must.Do(os.MkdirAll(r.to, 0o777))
		return program(version, r.command, filepath.Join(r.to, r.command), 0o755)
	case r.requests:
		return r.extractRequests()
	}
	return errors.New("the stand-in extracts --command or --credentials-requests only")
}

// extractRequests writes each request to a file named as in the release. Only --included or --cloud omits those of other clouds, on
// which ccoctl fails.
func (r *run) extractRequests() (err error) {
	defer must.Catch(&err)
	requests := release.Requests()
	must.FailIf(r.included && r.installConfig == "", "--included needs a cluster to ask, or --install-config; the stand-in has no cluster")
	switch {
	case r.included:
		config := must.Get(r.readInstallConfig())
		requests = slices.DeleteFunc(requests, func(q release.Request) bool { return config.Platform[strings.ToLower(q.Cloud)] == nil })
	case r.cloud != "":
		requests = slices.DeleteFunc(requests, func(q release.Request) bool { return !strings.EqualFold(q.Cloud, r.cloud) })
	}
	must.Do(os.MkdirAll(r.to, 0o777))
	for i, request := range requests {
		name := fmt.Sprintf("0000_%02d_%s_%02d-credentials-request.yaml", 30+i*5, request.Namespace, i)
		must.Do(os.WriteFile(filepath.Join(r.to, name), []byte(request.YAML()), 0o644))
	}
	return nil
}

// info is `oc adm release info --image-for`.
func (r *run) info(image string) (err error) {
	defer must.Catch(&err)
	version := must.Get(release.Find(image))
	must.FailIf(r.imageFor != operator, "no image tag %q exists in the release image %s", r.imageFor, image)
	_, err = fmt.Fprintln(r.stdout, release.Component(version, operator))
	return err
}

// operator is the only component of the stand-in: the image with ccoctl in it.
const operator = "cloud-credential-operator"

// imageExtract is `oc image extract --file`: into the working directory and not executable, so that the caller has to change that, as
// documented.
func (r *run) imageExtract(image string) (err error) {
	defer must.Catch(&err)
	version := must.Get(release.FindComponent(image, operator))
	must.FailIf(len(r.files) == 0, "the stand-in extracts what --file names only")
	for _, file := range r.files {
		name := filepath.Base(file)
		must.FailIf(!slices.Contains([]string{"/usr/bin/ccoctl", "/usr/bin/ccoctl.rhel8", "/usr/bin/ccoctl.rhel9"}, "/"+strings.TrimPrefix(file, "/")),
			"%s: no such file or directory in image", file)
		must.Do(program(version, "ccoctl", name, 0o644))
	}
	return nil
}

// program writes a program of a release: a script that calls the stand-in beside this one with that version. The same program of the
// same version always has the same bytes, as in a real release.
func program(version, name, to string, mode os.FileMode) (err error) {
	defer must.Catch(&err)
	self, err := os.Executable() // the file itself, with links resolved
	must.Do(err)
	beside := filepath.Join(filepath.Dir(self), name)
	_, err = os.Stat(beside)
	must.Wrap(err, "the stand-in %s is not beside this one", name)
	script := fmt.Sprintf("#!/bin/sh\n# ocpctl's stand-in for the %s of %s\n%s=%s exec %q \"$@\"\n", name, version, release.VersionVariable, version, beside)
	must.Do(os.WriteFile(to, []byte(script), mode))
	return os.Chmod(to, mode) // also if the file existed
}

// mustGather writes a small tree in the real one's form: a folder named after the collecting image, with the cluster's operators, and
// files beside it. https://docs.redhat.com/documentation/en-us/openshift_container_platform/4.20/html/support/gathering-cluster-data
func (r *run) mustGather(_ context.Context, l *resources.Living, _ []string) (err error) {
	defer must.Catch(&err)
	image := filepath.Join(r.to, "quay-io-openshift-release-dev-ocp-v4-0-art-dev-sha256-stand-in")
	for name, content := range map[string]string{
		filepath.Join(r.to, "timestamp"):       "2025-01-01 12:00:00 +0000 UTC\n",
		filepath.Join(r.to, "must-gather.log"): "[must-gather      ] OUT stand-in: ocpctl's scripted oc collected this\n",
		filepath.Join(image, "version"):        "openshift/must-gather\n" + r.version + "\n",
		filepath.Join(image, "cluster-scoped-resources", "config.openshift.io", "clusteroperators.yaml"): fmt.Sprintf(
			"apiVersion: config.openshift.io/v1\nkind: ClusterOperatorList\nitems: [] # of %d machines\n", len(l.Machines)),
	} {
		must.Do(os.MkdirAll(filepath.Dir(name), 0o755))
		must.Do(os.WriteFile(name, []byte(content), 0o644))
	}
	_, err = fmt.Fprintln(r.stdout, "[must-gather      ] OUT Using must-gather plug-in image: quay.io/openshift-release-dev/ocp-v4.0-art-dev@sha256:stand-in")
	return err
}
