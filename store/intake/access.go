package intake

import (
	"fmt"
	"regexp"

	"github.com/ocpctl/ocpctl/internal/artifacts"
	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/store/access"
	"github.com/ocpctl/ocpctl/store/attempts"
)

// maxAccess limits what one report says about access: a reader has at most twenty to one cluster.
const maxAccess = 500

var plainAccess = regexp.MustCompile(`^acc_[0-9A-Z]{26}$`)

// access checks what a report says about access, as far as that does not depend on the rows: the store compares it with those.
func (e *Invalid) access(list []contract.AccessState) {
	e.check(len(list) > maxAccess, "access", fmt.Sprintf("there are %d", len(list)), fmt.Sprintf("at most %d", maxAccess))
	for n, a := range list {
		at := fmt.Sprintf("access[%d]", n)
		e.check(!plainAccess.MatchString(a.ID), at+".id", fmt.Sprintf("%.80q is not the id of an access", a.ID), "an id that the server gave")
		e.check(a.OpenID && !a.Console, at+".openId", "it is a kubeconfig", "an account of the console")
		e.check(a.Removed && !a.StoredAt.IsZero(), at+".removed", "it was made and removed", "one of the two")
		e.check(a.StoredAt.IsZero() != a.ExpiresAt.IsZero(), at+".expiresAt", "it does not fit storedAt", "both, for an access that was made, or neither")
	}
}

// accessState converts what a report says about one access. The reference to its kubeconfig is built here: a runner only reports when it
// stored it.
func accessState(a contract.AccessState, of Scope) attempts.AccessState {
	out := attempts.AccessState{ID: a.ID, ExpiresAt: a.ExpiresAt, Removed: a.Removed, Trouble: sentence(a.Trouble)}
	if a.StoredAt.IsZero() {
		return out
	}
	file := artifacts.AccessFile(a.ID)
	if a.Console {
		out.Kind, file, out.OpenID = access.Console, artifacts.ConsoleFile(a.ID), a.OpenID
	}
	if out.OpenID {
		return out
	}
	out.Ref = artifacts.CredentialRef(of.Bucket, of.Cluster, of.Attempt, a.StoredAt, file)
	return out
}
