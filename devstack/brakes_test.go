package devstack_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/devstack"
	"github.com/ocpctl/ocpctl/devstack/github"
)

// comments reports whether a comment on a pull request has the text.
func (l *life) comments(number int, text string) bool {
	return slices.ContainsFunc(l.GitHub.Comments(number), func(c github.Comment) bool { return strings.Contains(c.Body, text) })
}

// isReady reports whether a pull request's cluster is ready.
func (l *life) isReady(number int) bool {
	return l.count(`SELECT count(*) FROM clusters WHERE pr_number = $1 AND status = 'READY'`, number) == 1
}

// A freeze by an admin, a label whose cluster waits and says why in its comment, and the thaw.
func TestAFrozenLabelWaitsWithItsReasonUntilItIsThawed(t *testing.T) {
	t.Parallel()
	l := newLifeOf(t, devstack.Config{Hour: time.Minute})
	brake := ask[v1.Brake](l.as("admin"), http.MethodPost, "/api/v1/brakes", v1.FreezeRequest{Platform: "aws", Until: "4h", Reason: "AWS has an outage"}, http.StatusCreated)
	number := l.labelledWith(label, "Frozen")
	l.runUntil("its comment says why", time.Minute, func() bool {
		return l.comments(number, "AWS has an outage") && l.comments(number, "new clusters are frozen")
	})
	require.Zero(t, l.count(`SELECT count(*) FROM attempts`))
	ask[v1.Brakes](l.as("admin"), http.MethodPost, "/api/v1/brakes/"+brake.ID+"/thaw", v1.MaybeReason{Reason: "it is over"}, http.StatusOK)
	l.runUntil("ready", 90*time.Second, func() bool { return l.isReady(number) })
}
