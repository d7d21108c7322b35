package app_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/devstack/servicetest"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/reports"
)

func TestAClusterThatIsGoneKeepsItsName(t *testing.T) {
	h := servicetest.New(t)
	maya := policy.As("oidc:https://issuer.example.com#maya", "maya", policy.Requester, "platform")
	stranger := policy.As("oidc:https://issuer.example.com#sam", "sam", policy.Requester, "payments")
	older := h.Create(maya, "demo")
	h.Release(older)
	newer := h.Create(maya, "demo")

	row, err := h.Service.Cluster(t.Context(), maya, "demo")
	require.NoError(t, err)
	require.Equal(t, newer.ID, row.ID, "the live one comes first")
	h.Release(newer)

	for read, do := range map[string]func(p policy.Principal) (string, error){
		"status": func(p policy.Principal) (string, error) {
			d, err := h.Service.Get(t.Context(), p, "demo", 10)
			return d.Row.ID, err
		},
		"explain": func(p policy.Principal) (string, error) {
			e, err := h.Service.Explain(t.Context(), p, "demo")
			return e.Row.ID, err
		},
		"logs": func(p policy.Principal) (string, error) {
			l, err := h.Service.Log(t.Context(), p, "demo", "", 10)
			return l.Job.Cluster, err
		},
		"timeline": func(p policy.Principal) (string, error) {
			e, err := h.Service.Timeline(t.Context(), p, "demo")
			return clusterOf(e), err
		},
		"jobs": func(p policy.Principal) (string, error) {
			jobs, _, err := h.Service.Jobs(t.Context(), p, reports.JobFilter{Cluster: "demo"})
			if len(jobs) == 0 {
				return "", err
			}
			return jobs[0].Cluster, err
		},
	} {
		id, err := do(maya)
		require.NoError(t, err, read)
		if read == "timeline" {
			require.NotEmpty(t, id, read)
		} else {
			require.Equal(t, newer.ID, id, read)
		}
		_, err = do(stranger)
		require.Equal(t, app.NotFound, app.KindOf(err), "%s: a name that is gone tells a stranger nothing", read)
	}
}

func clusterOf(events []store.Event) string {
	if len(events) == 0 {
		return ""
	}
	return events[0].Why
}

func TestDestroyingWhatIsGoneSucceedsAndSaysWhenItWent(t *testing.T) {
	h := servicetest.New(t)
	maya := policy.As("oidc:https://issuer.example.com#maya", "maya", policy.Requester, "platform")
	made := h.Create(maya, "demo")
	h.Release(made)
	before := h.Query(`SELECT count(*)::text FROM audit_events UNION ALL SELECT count(*)::text FROM jobs`)
	row, job, err := h.Service.Destroy(t.Context(), maya, "demo", app.Origin{Source: policy.SourceAPI})
	require.NoError(t, err)
	require.Equal(t, made.ID, row.ID)
	require.NotEmpty(t, job)
	require.Contains(t, messages.Destroying(row.Card), "demo was destroyed: nothing has been left of it since "+row.ReleasedAt.UTC().Format("2006-01-02 15:04:05 UTC"))
	require.Equal(t, before, h.Query(`SELECT count(*)::text FROM audit_events UNION ALL SELECT count(*)::text FROM jobs`), "nothing was changed")

	_, err = h.Service.Extend(t.Context(), maya, "demo", app.Span{For: time.Hour}, app.Origin{Source: policy.SourceAPI})
	require.Equal(t, app.Conflict, app.KindOf(err))
	require.ErrorContains(t, err, "demo was destroyed")
}
