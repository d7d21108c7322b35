package runner

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/runner/status"
)

// limitTries is how often the roles are limited at most: an install of an hour is not given up for a bad minute of IAM.
const limitTries = 12

// roleLine is how ccoctl writes an operator's role into its Secret (cloud-credential-operator pkg/cmd/provisioning/aws).
var roleLine = regexp.MustCompile(`(?m)^\s*role_arn = arn:[^:]+:iam::\d+:role/(\S+)$`)

// readRoles remembers the names of the operators' roles that ccoctl created, before its files are consumed.
func (a *attempt) readRoles(manifests []os.DirEntry) error {
	for _, each := range manifests {
		raw, err := os.ReadFile(filepath.Join(a.ccoDir("out/manifests"), each.Name()))
		if err != nil {
			return fmt.Errorf("read what ccoctl wrote: %w", err)
		}
		for _, found := range roleLine.FindAllStringSubmatch(string(raw), -1) {
			a.roles = append(a.roles, found[1])
		}
	}
	slices.Sort(a.roles)
	a.roles = slices.Compact(a.roles)
	return nil
}

// boundaryARN returns the ARN of the permissions boundary in the account of the credentials: each account has its own policy of that name.
func (a *attempt) boundaryARN() string {
	parts := strings.Split(a.cfg.Boundary, ":")
	if len(parts) == 6 && parts[4] != "aws" && a.account != "" {
		parts[4] = a.account
	}
	return strings.Join(parts, ":")
}

// limitRoles limits what the cluster's own roles may do to this cluster: whoever administers the cluster has them. It is called before the
// installer, because a role without its cluster's tag may do nothing, and after it, because the installer creates the nodes' roles without a
// permissions boundary. Nobody gets into the cluster before that.
func (a *attempt) limitRoles(ctx context.Context) error {
	var err error
	for try := 1; ; try++ {
		err = a.cloud.LimitRoles(ctx, a.cloudTarget(), a.roles, a.boundaryARN())
		if err == nil || ctx.Err() != nil || try == limitTries {
			break
		}
		a.noteLine("the cluster's own roles could not be limited to this cluster, trying again (%d of %d): %v", try+1, limitTries, err)
		if status.Sleep(ctx, a.cfg.Timings.RetryMax) != nil {
			break // the switch below says why
		}
	}
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return failure{
			Reason: "RolesNotLimited", Whose: contract.WhoseCloud, Retryable: true,
			Message: fmt.Sprintf("the cluster's own roles could not be limited to this cluster: %v", err),
			Next:    "try again later; if it happens again, ask an administrator to allow the runner iam:TagRole and iam:PutRolePermissionsBoundary (deploy/terraform/policies/runner-identity.json)",
		}
	}
	return nil
}
