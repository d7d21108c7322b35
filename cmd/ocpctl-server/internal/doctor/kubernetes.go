package doctor

import (
	"context"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/internal/dispatch/kubernetes"
)

// Kubernetes is what starts runner pods, as far as it can be examined.
type Kubernetes interface {
	// Access says what this process may do at the API, and whether the API accepts runners' Jobs.
	Access(ctx context.Context) (kubernetes.Access, error)
}

// applyRole is what to do about rights.
const applyRole = "Install the chart's Role and RoleBinding (rbac.create), or grant what deploy/helm/ocpctl/README.md lists under \"Access to the Kubernetes API\"."

// checkKubernetes checks that this process may start runners as pods, and do nothing else.
func (d *doctor) checkKubernetes(ctx context.Context, f *findings) {
	if d.Kubernetes == nil {
		f.skip("access", "runners are local processes")
		return
	}
	found, err := d.Kubernetes.Access(ctx)
	if err != nil {
		f.fail("api", "Check that this pod has a service account token (automountServiceAccountToken) and may reach the API server (networkPolicy.serverPorts), or correct runner.kubernetes.kubeconfig.",
			"%s", err)
		return
	}
	f.ok("api", "Kubernetes %s", found.Version)
	d.checkClock(f, "the Kubernetes API", found.Clock, time.Second)
	if found.Own == found.Namespace {
		f.warn("namespace", "Give runners a namespace of their own: runner.kubernetes.namespace, or runner.namespace.name in the chart.",
			"runners start in %s, the namespace of this process: its Secrets could be mounted by runners", found.Namespace)
	} else {
		f.ok("namespace", "runners start in %s", found.Namespace)
	}
	if len(found.Missing) > 0 {
		f.fail("rights", applyRole, "this process may not %s in the namespace %s", strings.Join(found.Missing, "; "), found.Namespace)
	} else {
		f.ok("rights", "this process may start, watch and delete runner pods")
	}
	if len(found.Excess) > 0 {
		f.warn("excess", "Take these rights away: "+applyRole, "this process may also %s", strings.Join(found.Excess, "; "))
	} else {
		f.ok("excess", "it may not read Secrets, create other pods, or act in other namespaces")
	}
	reportJobs(f, found)
	f.skip("objects", "not checked, because this process may not read them: %s. A pod waits for one that is missing, and its cluster's page says so",
		strings.Join(found.Unread, ", "))
}

// reportJobs reports what the API server says to runners' Jobs.
func reportJobs(f *findings, found kubernetes.Access) {
	for _, refused := range found.Refused {
		if refused.Err != nil {
			f.fail("jobs", "Correct the section runner.kubernetes, or what refuses the Job in the namespace "+found.Namespace+".",
				"a Job for attempts of kind %s would be refused: %s", refused.Kind, refused.Err)
			continue
		}
		f.warn("jobs", "Correct the section runner.kubernetes, or the labels of the namespace "+found.Namespace+".",
			"a Job for attempts of kind %s is accepted with a warning: %s", refused.Kind, strings.Join(refused.Warned, "; "))
	}
	if len(found.Refused) == 0 {
		f.ok("jobs", "the API server accepts a Job of each kind (checked without creating it)")
	}
}
