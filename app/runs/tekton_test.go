package runs_test

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/runs"
	"github.com/ocpctl/ocpctl/devstack/postgres/pgtest"
	"github.com/ocpctl/ocpctl/devstack/servicetest"
	standin "github.com/ocpctl/ocpctl/devstack/tekton"
	"github.com/ocpctl/ocpctl/internal/secret"
	"github.com/ocpctl/ocpctl/internal/tekton"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/policy/catalogue"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
)

const (
	issuer = "https://oidc.example.com/id/1"
	every  = 2 * time.Minute
)

// office is a service that asks a stand-in of a Kubernetes cluster about PipelineRuns, on a database whose clock the test moves.
type office struct {
	*testing.T
	api   *standin.API
	core  *app.Service
	runs  *runs.Service
	store *store.Store
	now   time.Time
}

func newOffice(t *testing.T) *office {
	t.Helper()
	o := &office{T: t, api: standin.Start(), now: time.Now().UTC().Truncate(time.Second)}
	t.Cleanup(o.api.Stop)
	var err error
	o.store, err = store.Open(t.Context(), pgtest.New(t), db.Options{Limits: servicetest.Limits(), Lease: time.Minute, Installation: "test", Now: func() time.Time { return o.now }})
	require.NoError(t, err)
	t.Cleanup(o.store.Close)
	o.serve(issuer)
	return o
}

// serve starts the services anew, with the PipelineRuns of an issuer watched; empty: of none.
func (o *office) serve(watched string) {
	o.Helper()
	ca := filepath.Join(o.TempDir(), "ca.crt")
	require.NoError(o, os.WriteFile(ca, o.api.CA(), 0o600))
	var issuers []string
	var clusters []tekton.Cluster
	if watched != "" {
		issuers = []string{watched}
		clusters = []tekton.Cluster{{Issuer: watched, API: o.api.URL(), CAFile: ca, Token: func(context.Context) (secret.Text, error) { return secret.New(standin.Token), nil }}}
	}
	client, err := tekton.New(clusters)
	require.NoError(o, err)
	terms := servicetest.Catalogue(o, map[string]string{"teams/platform.yaml": "name: platform\nowner: maya\ncostCenters: [sandbox]\nenvironments: [test]\n"})
	o.core = app.New(app.Config{
		Store: o.store, Catalogue: func() catalogue.Catalogue { return terms }, GitHubSite: "https://github.com", Tekton: issuers,
		Policy: policy.Settings{Installation: "test"}, Installs: app.Installs{PullSecretRef: "file:/run/pull-secret"},
	})
	o.runs = runs.New(runs.Config{Store: o.store, Tekton: client, Site: "https://github.com", Every: every, Use: 6 * time.Hour})
}

// builder is a service account of the namespace ci.
func builder() policy.Principal {
	p := policy.As("oidc:"+issuer+"#system:serviceaccount:ci:builder", "", policy.Requester, "platform")
	p.Proof = &policy.Claims{Source: profiles.SourceOIDC, Issuer: issuer, Platform: profiles.IssuerKubernetes, Subject: "system:serviceaccount:ci:builder", Values: map[string][]string{
		"kubernetes.io.namespace": {"ci"}, "kubernetes.io.serviceaccount.name": {"builder"},
	}}
	return p
}

// create asks for a cluster as a PipelineRun of the namespace ci.
func (o *office) create(name, run, uid string) clusters.Row {
	o.Helper()
	made, err := o.core.Create(o.Context(), builder(), app.CreateRequest{
		Name: name, Profile: servicetest.Profile, Source: policy.SourceAPI,
		Run: &app.RunRequest{Slot: name, PipelineRun: policy.PipelineRun{Kind: policy.KindPipelineRun, Name: run, UID: uid}},
	})
	require.NoError(o, err)
	return made.Row
}

// look lets time pass and has every run that is due looked at.
func (o *office) look(after time.Duration) {
	o.Helper()
	o.now = o.now.Add(after)
	require.NoError(o, o.runs.Look(o.Context()))
}

// ends is when and why a cluster ends with its run; empty: it does not.
func (o *office) ends(row clusters.Row) string {
	o.Helper()
	row, err := o.store.Cluster(o.Context(), row.ID)
	require.NoError(o, err)
	if row.Ends.RunFinished.IsZero() {
		return ""
	}
	return row.Ends.RunFinished.Sub(o.now).String() + " " + row.Ends.RunWhy.String()
}

func (o *office) run(status, reason string) standin.Run {
	r := standin.Run{Namespace: "ci", Name: "e2e-1", UID: "u-1", Status: status, Reason: reason}
	if status != "Unknown" {
		r.Completed = o.now
	}
	return r
}

func TestAClusterEndsWithItsPipelineRun(t *testing.T) {
	for name, c := range map[string]struct{ status, reason, want string }{
		"succeeded":       {"True", "Succeeded", "0s its PipelineRun finished"},
		"cancelled":       {"False", "Cancelled", "0s its PipelineRun was cancelled"},
		"failed":          {"False", "Failed", "15m0s its PipelineRun failed"},
		"ran out of time": {"False", "PipelineRunTimeout", "15m0s its PipelineRun ran out of time"},
	} {
		t.Run(name, func(t *testing.T) {
			o := newOffice(t)
			o.api.Put(o.run("Unknown", "Running"))
			row := o.create("shop", "e2e-1", "u-1")
			require.Empty(t, row.Run.Unwatched)
			o.look(59 * time.Second)
			require.Zero(t, o.api.Asked(), "it is asked after a minute")
			o.look(time.Second)
			require.Equal(t, 1, o.api.Asked())
			require.Empty(t, o.ends(row))
			o.api.Put(o.run(c.status, c.reason))
			o.look(every - time.Second)
			require.Empty(t, o.ends(row), "it is asked every two minutes")
			o.look(time.Second)
			require.Equal(t, c.want, o.ends(row))
		})
	}
}

func TestAPipelineRunIsGoneIfTheAPISaysSoTwice(t *testing.T) {
	o := newOffice(t)
	row := o.create("shop", "e2e-1", "u-1")
	o.look(time.Minute)
	require.Empty(t, o.ends(row), "one answer is not enough")
	o.look(time.Minute)
	require.Equal(t, "15m0s its PipelineRun was deleted", o.ends(row))

	o.api.Put(o.run("Unknown", "Running"))
	o.look(every)
	require.Empty(t, o.ends(row), "it is back, for example from a backup")

	another := o.run("Unknown", "Running")
	another.UID = "u-2"
	o.api.Put(another)
	o.look(every)
	require.Empty(t, o.ends(row))
	o.look(time.Minute)
	require.Equal(t, "15m0s its PipelineRun was deleted", o.ends(row), "another one has its name")
}

func TestAWrongNameOfAPipelineRunEndsTheClusterOfTheOneWhoGaveItAlone(t *testing.T) {
	o := newOffice(t)
	o.api.Put(o.run("Unknown", "Running"))
	wrong := o.create("wrong", "no-such", "u-1")
	right := o.create("shop", "e2e-1", "u-1")
	require.NotEqual(t, wrong.Run.ID, right.Run.ID)
	use, _, err := o.core.AskUse(t.Context(), builder(), right.ID, policy.PipelineRun{Kind: policy.KindPipelineRun, Name: "e2e-1", UID: "u-1"}, app.Origin{Source: policy.SourceAPI})
	require.NoError(t, err)
	require.Equal(t, "granted", string(use.State()))

	o.look(time.Minute)
	o.look(every)
	require.Contains(t, o.ends(wrong), "its PipelineRun was deleted")
	require.Empty(t, o.ends(right), "the API shows it running")
	later := o.create("later", "e2e-1", "u-1")
	require.Equal(t, right.Run.ID, later.Run.ID, "the real one can ask for more")
	list, err := o.core.Uses(t.Context(), builder(), right.ID, policy.PipelineRun{Kind: policy.KindPipelineRun, Name: "no-such", UID: "u-1"})
	require.NoError(t, err)
	require.Equal(t, "granted", string(list[0].State()))
	require.False(t, list[0].Mine, "the turn of another run")

	o.api.Put(o.run("True", "Succeeded"))
	o.look(every)
	require.Equal(t, "0s its PipelineRun finished", o.ends(right))
	require.Equal(t, "0s its PipelineRun finished", o.ends(later))
}

func TestTheClustersOfAPipelineRunAreFoundByItsUID(t *testing.T) {
	o := newOffice(t)
	row := o.create("shop", "e2e-1", "u-1")
	o.create("other", "e2e-1", "u-2")
	require.Equal(t, "u-1", row.Run.Key)
	for _, by := range []string{"u-1", "e2e-1/u-1", row.Run.ID} {
		list, _, err := o.store.List(t.Context(), store.Filter{Run: by})
		require.NoError(t, err)
		require.Len(t, list, 1, by)
		require.Equal(t, row.ID, list[0].ID)
	}
	for _, by := range []string{"e2e-1", "1"} {
		list, _, err := o.store.List(t.Context(), store.Filter{Run: by})
		require.NoError(t, err)
		require.Empty(t, list, by)
	}
}

func TestAnAPIThatDoesNotAnswerDecidesNothing(t *testing.T) {
	o := newOffice(t)
	row := o.create("shop", "e2e-1", "u-1")
	for _, fault := range []func(http.ResponseWriter) bool{
		func(http.ResponseWriter) bool { panic(http.ErrAbortHandler) },
		func(w http.ResponseWriter) bool { w.WriteHeader(http.StatusInternalServerError); return true },
		func(w http.ResponseWriter) bool { standin.Refuse(w, 429, "TooManyRequests", "later", nil); return true },
		func(w http.ResponseWriter) bool {
			http.Error(w, "404 page not found", http.StatusNotFound)
			return true
		},
		func(w http.ResponseWriter) bool { standin.Refuse(w, 403, "Forbidden", "no", nil); return true },
	} {
		o.api.Fault(fault)
		for range 3 {
			before := o.api.Asked()
			o.look(unseenEvery)
			require.Equal(t, before+1, o.api.Asked())
			require.Empty(t, o.ends(row))
		}
	}
	o.api.Fault(nil)
	o.api.Put(o.run("True", "Succeeded"))
	o.look(unseenEvery)
	require.Equal(t, "0s its PipelineRun finished", o.ends(row))
}

// unseenEvery is how often a run is asked about that cannot be read.
const unseenEvery = 5 * every

func TestWhatCannotBeReadSaysSoUntilItCan(t *testing.T) {
	o := newOffice(t)
	row := o.create("shop", "e2e-1", "u-1")
	why := func() string {
		row, err := o.store.Cluster(o.Context(), row.ID)
		require.NoError(o, err)
		return row.Run.Unwatched
	}
	o.api.Fault(func(w http.ResponseWriter) bool { standin.Refuse(w, 403, "Forbidden", "no", nil); return true })
	o.look(time.Minute)
	require.Equal(t, "the Kubernetes API for the issuer "+issuer+" does not let the server read PipelineRuns; its service account needs the right to get them", why())
	require.Equal(t, why(), o.create("other", "e2e-2", "u-2").Run.Unwatched, "the next one is told at once")
	o.api.Fault(func(w http.ResponseWriter) bool { http.NotFound(w, nil); return true })
	o.look(unseenEvery)
	require.Contains(t, why(), "knows no PipelineRuns")
	o.api.Fault(nil)
	o.api.Put(o.run("Unknown", "Running"))
	o.look(unseenEvery)
	require.Empty(t, why())
}

func TestSilenceIsShownAfterAWhile(t *testing.T) {
	o := newOffice(t)
	o.api.Put(o.run("Unknown", "Running"))
	row := o.create("shop", "e2e-1", "u-1")
	why := func() string {
		row, err := o.store.Cluster(o.Context(), row.ID)
		require.NoError(o, err)
		return row.Run.Unwatched
	}
	o.look(time.Minute)
	o.api.Fault(func(w http.ResponseWriter) bool { w.WriteHeader(http.StatusBadGateway); return true })
	for range 4 {
		o.look(every)
		require.Empty(t, why(), "an API that restarts worries nobody")
	}
	o.look(every)
	require.Equal(t, "the Kubernetes API for the issuer "+issuer+" does not answer", why())
	o.look(every)
	require.NotEmpty(t, why())
	require.Empty(t, o.ends(row))
	o.api.Fault(nil)
	o.look(every)
	require.Empty(t, why())
	o.api.Put(o.run("True", "Succeeded"))
	o.look(every)
	require.Equal(t, "0s its PipelineRun finished", o.ends(row))
}

func TestWithoutConfigurationAPipelineRunIsNotWatched(t *testing.T) {
	o := newOffice(t)
	watched := o.create("watched", "e2e-1", "u-1")
	o.api.Put(o.run("True", "Succeeded"))
	o.serve("")
	row := o.create("shop", "e2e-2", "u-2")
	require.Equal(t, "the server's configuration (tekton) names no Kubernetes API for the issuer "+issuer, row.Run.Unwatched)
	for range 5 {
		o.look(time.Hour)
	}
	require.Zero(t, o.api.Asked())
	require.Empty(t, o.ends(row))
	require.Empty(t, o.ends(watched))
	again, err := o.store.Cluster(t.Context(), watched.ID)
	require.NoError(t, err)
	require.Equal(t, row.Run.Unwatched, again.Run.Unwatched, "one that was watched says so, too")

	o.serve(issuer)
	o.api.Put(standin.Run{Namespace: "ci", Name: "e2e-2", UID: "u-2", Status: "False", Reason: "Cancelled", Completed: o.now})
	o.look(unseenEvery)
	require.Equal(t, "0s its PipelineRun finished", o.ends(watched), "the issuer is configured")
	require.Equal(t, "0s its PipelineRun was cancelled", o.ends(row))
}

func TestTheTurnOfAPipelineRunEndsWithIt(t *testing.T) {
	o := newOffice(t)
	row := o.create("shop", "e2e-1", "u-1")
	turn := func(name, uid string) app.Use {
		use, _, err := o.core.AskUse(t.Context(), builder(), row.ID, policy.PipelineRun{Kind: policy.KindPipelineRun, Name: name, UID: uid}, app.Origin{Source: policy.SourceAPI})
		require.NoError(t, err)
		return use
	}
	o.api.Put(standin.Run{Namespace: "ci", Name: "e2e-2", UID: "u-2", Status: "Unknown", Reason: "Running"})
	o.api.Put(o.run("Unknown", "Running"))
	turn("e2e-2", "u-2")
	require.Len(t, turn("e2e-1", "u-1").Ahead, 1)
	o.api.Put(standin.Run{Namespace: "ci", Name: "e2e-2", UID: "u-2", Status: "False", Reason: "Cancelled", Completed: o.now})
	o.look(time.Minute)
	list, err := o.core.Uses(t.Context(), builder(), row.ID, policy.PipelineRun{Kind: policy.KindPipelineRun, Name: "e2e-1", UID: "u-1"})
	require.NoError(t, err)
	require.Equal(t, "granted", string(list[0].State()))
	require.True(t, list[0].Mine)
	require.Equal(t, "its run finished", list[1].Why)
	require.False(t, list[1].Mine)
}
