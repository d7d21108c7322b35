package e2e

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/devstack/pick"
)

// fork checks that nothing runs for a fork's code before a team member approved exactly that commit.
func (t *scenario) fork(ctx context.Context) {
	t.step("maya labels the fork's #45", func() error { return t.act(ctx, forked, "label", url.Values{"text": {label}}) })
	t.step("its cluster waits for a person's word", t.inPhase(ctx, forked, "awaiting_approval", 10*time.Second))
	t.step("it is told why, and what to type", func() error {
		return until(ctx, 10*time.Second, func() error {
			list := must.Get(t.comments(ctx, forked))
			return contains(strings.Join(list, "\n"), "comes from a fork", "/ocp approve")
		})
	})
	t.step("a push makes what was asked for void, and asks anew", func() (err error) {
		defer must.Catch(&err)
		must.Do(t.approvals(ctx, "pending"))
		must.Do(t.act(ctx, forked, "push", nil))
		return t.approvals(ctx, "pending", "void")
	})
	t.step("nothing of it runs yet", t.inPhase(ctx, forked, "awaiting_approval", 0))
	t.step("maya says /ocp approve with the commit, and it begins", func() (err error) {
		defer must.Catch(&err)
		head := must.Get(t.awaited(ctx))
		must.Do(t.comment(ctx, forked, "/ocp approve "+head))
		return t.inPhase(ctx, forked, "installing", 20*time.Second)()
	})
	t.step("/ocp destroy takes it down", func() error {
		must.Do(t.comment(ctx, forked, "/ocp destroy"))
		return t.reaches(ctx, forked, "DESTROYED", 90*time.Second)()
	})
}

// asked is an approval of the fork's cluster.
type asked struct{ State, Head string }

// asked lists the approvals of the fork's cluster, newest first.
func (t *scenario) asked(ctx context.Context) (_ []asked, err error) {
	defer must.Catch(&err)
	c := must.Get(t.newest(ctx, forked))
	raw, status := must.Get2(t.fetch(ctx, t.at.Private+"/api/v1/approvals?cluster="+c.ClusterID, t.at.Requester))
	must.FailIf(status != http.StatusOK, "GET /api/v1/approvals: %d %s", status, raw)
	var page struct{ Items []asked }
	return page.Items, json.Unmarshal(raw, &page)
}

// awaited returns the commit whose approval the fork's cluster waits for.
func (t *scenario) awaited(ctx context.Context) (head string, err error) {
	defer must.Catch(&err)
	all := must.Get(t.asked(ctx))
	must.FailIf(len(all) == 0 || all[0].State != "pending", "nothing waits: %v", all)
	return all[0].Head, nil
}

// approvals waits until the approvals of the fork's cluster have these states, newest first.
func (t *scenario) approvals(ctx context.Context, want ...string) error {
	return until(ctx, 10*time.Second, func() error {
		all := must.Get(t.asked(ctx))
		states := pick.Map(all, func(a asked) string { return a.State })
		must.FailIf(!slices.Equal(states, want), "they are %v instead of %v", states, want)
		return nil
	})
}
