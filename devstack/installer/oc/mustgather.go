package oc

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ocpctl/ocpctl/devstack/installer/resources"
	"github.com/ocpctl/ocpctl/devstack/must"
)

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
