package storetest

import (
	"context"
	"time"

	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/access"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/runs"
)

// AsWorkflow is who a workflow of acme/shop is.
const AsWorkflow = "oidc:github#repo:acme/shop"

// WantsForRun asks for an admin's kubeconfig with the token of a job.
func WantsForRun(s *store.Store, cluster string, ref runs.Ref, job string) (access.Row, error) {
	w := access.Wanted{Ask: access.Ask{Reader: AsWorkflow, ReaderName: "acme/shop", Role: access.RoleAdmin, Right: access.OwnRight, Lifetime: time.Hour}}
	return s.AskAccess(context.Background(), cluster, w, &ref, job, clusters.Origin{Actor: AsWorkflow})
}
