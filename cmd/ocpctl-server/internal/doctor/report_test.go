package doctor

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/cmd/ocpctl-server/internal/config"
	"github.com/ocpctl/ocpctl/internal/dispatch/kubernetes"
	"github.com/ocpctl/ocpctl/store/inspect"
)

var sample = []Result{
	{Check: "database.version", Status: OK, Found: "PostgreSQL 15"},
	{Check: "s3.versioning", Status: Fail, Found: "versioning is off\nfor the bucket", Next: "Turn it on."},
	{Check: "slack.app", Status: Skipped, Found: "Slack is disabled"},
}

func TestResultsAreWrittenForPeople(t *testing.T) {
	var out bytes.Buffer
	report, end := Text(&out)
	for _, r := range sample {
		report(r)
	}
	require.NoError(t, end())
	require.Equal(t, `ok      database.version                       PostgreSQL 15
fail    s3.versioning                          versioning is off
                                                 for the bucket
                                               → Turn it on.
skipped slack.app                              Slack is disabled

1 ok, 0 warn, 1 fail, 1 skipped
`, out.String())
}

func TestResultsAreWrittenForPrograms(t *testing.T) {
	var out bytes.Buffer
	report, end := JSON(&out)
	for _, r := range sample {
		report(r)
	}
	require.NoError(t, end())
	var document struct {
		Failed  int
		Results []Result
	}
	require.NoError(t, json.Unmarshal(out.Bytes(), &document))
	require.Equal(t, 1, document.Failed)
	require.Equal(t, sample, document.Results)
}

func TestAnInvalidConfigurationIsAllThatIsReported(t *testing.T) {
	var results []Result
	failed := Run(t.Context(), Config{Invalid: errors.New("ocpctl.yaml:\nline 3: github.app_id is -1; give more\nnot set: ui_url is empty")}, func(r Result) { results = append(results, r) })
	require.Equal(t, 2, failed)
	require.Equal(t, "line 3: github.app_id is -1; give more", results[0].Found)
	require.Equal(t, "not set: ui_url is empty", results[1].Found)
}

func TestOnlyWhatTheRolesNeedIsExamined(t *testing.T) {
	for roles, want := range map[string][]string{
		"hooks":  {"configuration", "secrets", "database", "listeners", "slack"},
		"api":    {"configuration", "secrets", "database", "listeners", "s3", "identity", "ui"},
		"worker": {"configuration", "secrets", "database", "s3", "ui", "github", "tekton", "slack", "account", "ibmcloud", "runner", "kubernetes"},
	} {
		parsed, err := config.ParseRoles(roles)
		require.NoError(t, err)
		var names []string
		for _, a := range newDoctor(Config{Roles: parsed}).listAreas() {
			names = append(names, a.name)
		}
		require.Equal(t, want, names)
	}
}

func TestAnAreaEndsWithItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, begun := newDoctor(Config{}), time.Now()
		results := d.examineArea(t.Context(), area{"slow", func(ctx context.Context, f *findings) {
			<-ctx.Done()
			f.fail("call", "Wait.", "%s", ctx.Err())
		}})
		require.Equal(t, areaTimeout, time.Since(begun))
		require.Equal(t, Fail, results[0].Status)
	})
}

// pods is what an API answers.
type pods struct {
	found kubernetes.Access
	err   error
}

func (p pods) Access(context.Context) (kubernetes.Access, error) { return p.found, p.err }

func TestWhatThePodsLackIsReported(t *testing.T) {
	now := time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC)
	good := kubernetes.Access{Version: "v1.34.4", Clock: now, Namespace: "runners", Own: "ocpctl", Unread: []string{"service account runner"}}
	for name, c := range map[string]struct {
		change func(*pods)
		check  string
		want   Status
		found  string
	}{
		"in order":      {func(*pods) {}, "rights", OK, "may start, watch and delete"},
		"not checked":   {func(*pods) {}, "objects", Skipped, "service account runner"},
		"no answer":     {func(p *pods) { p.err = errors.New("connection refused") }, "api", Fail, "connection refused"},
		"another clock": {func(p *pods) { p.found.Clock = now.Add(-time.Hour) }, "clock", Fail, "ahead of the Kubernetes API's"},
		"one namespace": {func(p *pods) { p.found.Own = "runners" }, "namespace", Warn, "the namespace of this process"},
		"too little":    {func(p *pods) { p.found.Missing = []string{"create jobs.batch"} }, "rights", Fail, "may not create jobs.batch in the namespace runners"},
		"too much":      {func(p *pods) { p.found.Excess = []string{"get secrets"} }, "excess", Warn, "may also get secrets"},
		"a Job is refused": {func(p *pods) {
			p.found.Refused = []kubernetes.KindOutcome{{Kind: "create", Err: errors.New("exceeded quota")}}
		}, "jobs", Fail, "kind create would be refused: exceeded quota"},
		"a Job is doubtful": {func(p *pods) {
			p.found.Refused = []kubernetes.KindOutcome{{Kind: "scale", Warned: []string{"would violate PodSecurity"}}}
		}, "jobs", Warn, "would violate PodSecurity"},
	} {
		t.Run(name, func(t *testing.T) {
			answers := pods{found: good}
			c.change(&answers)
			f := &findings{area: "kubernetes"}
			newDoctor(Config{Kubernetes: answers, Now: func() time.Time { return now }}).checkKubernetes(t.Context(), f)
			i := slices.IndexFunc(f.results, func(r Result) bool { return r.Check == "kubernetes."+c.check })
			require.GreaterOrEqual(t, i, 0)
			require.Equal(t, c.want, f.results[i].Status)
			require.Contains(t, f.results[i].Found, c.found)
			require.Equal(t, c.want == Warn || c.want == Fail, f.results[i].Next != "")
		})
	}
}

func TestADatabaseIsJudged(t *testing.T) {
	good := inspect.Database{Host: "db.example.com", User: "ocpctl", TLS: "TLSv1.3", Schema: 22, FirstSchema: 20, NewestSchema: 22, River: 6, NewestRiver: 6, MayCreate: true, MaxConnections: 97, PoolConns: 30}
	for name, c := range map[string]struct {
		change func(*inspect.Database)
		judge  func(*doctor, *findings, inspect.Database)
		want   Status
		found  string
	}{
		"up to date":           {func(*inspect.Database) {}, (*doctor).checkSchema, OK, "up to date: 22"},
		"older":                {func(db *inspect.Database) { db.Schema = 20 }, (*doctor).checkSchema, Warn, "at 20 of 22"},
		"too old":              {func(db *inspect.Database) { db.Schema = 19 }, (*doctor).checkSchema, Fail, "at 19, and this program's migrations begin with 20"},
		"older, and not ours":  {func(db *inspect.Database) { db.River, db.MayCreate = 0, false }, (*doctor).checkSchema, Fail, "may not create tables"},
		"newer":                {func(db *inspect.Database) { db.Schema = 23 }, (*doctor).checkSchema, Warn, "a newer server has migrated it"},
		"encrypted":            {func(*inspect.Database) {}, (*doctor).checkTLS, OK, "TLSv1.3"},
		"open":                 {func(db *inspect.Database) { db.TLS = "" }, (*doctor).checkTLS, Fail, "db.example.com is not encrypted"},
		"open, on the machine": {func(db *inspect.Database) { db.TLS, db.Host = "", "/var/run/postgresql" }, (*doctor).checkTLS, OK, "stays on this machine"},
		"enough connections":   {func(*inspect.Database) {}, (*doctor).checkConnections, OK, "97 connections are enough for 3 processes with up to 30 each"},
		"for one process":      {func(db *inspect.Database) { db.PoolConns = 60 }, (*doctor).checkConnections, Warn, "a second one does not fit"},
		"too few connections":  {func(db *inspect.Database) { db.PoolConns = 200 }, (*doctor).checkConnections, Fail, "up to 200 connections"},
	} {
		t.Run(name, func(t *testing.T) {
			db := good
			c.change(&db)
			f := &findings{area: "database"}
			c.judge(newDoctor(Config{}), f, db)
			require.Len(t, f.results, 1)
			require.Equal(t, c.want, f.results[0].Status)
			require.Contains(t, f.results[0].Found, c.found)
		})
	}
}

func TestClocksAreCompared(t *testing.T) {
	now := time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC)
	d := newDoctor(Config{Now: func() time.Time { return now }})
	for apart, want := range map[time.Duration]Status{0: OK, 5 * time.Second: OK, -5 * time.Second: OK, 8 * time.Second: Warn, -8 * time.Second: Warn, 40 * time.Second: Fail, -time.Hour: Fail} {
		f := &findings{area: "github"}
		d.checkClock(f, "GitHub", now.Add(apart), time.Second)
		require.Equal(t, want, f.results[0].Status, apart)
	}
}

func TestACertificateIsRenewedInTime(t *testing.T) {
	now := time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC)
	d := newDoctor(Config{Now: func() time.Time { return now }})
	for left, want := range map[time.Duration]Status{-time.Hour: Fail, 24 * time.Hour: Warn, 90 * 24 * time.Hour: OK} {
		f := &findings{area: "ui"}
		d.checkExpiry(f, "certificate", "ocpctl.example.com", &x509.Certificate{NotAfter: now.Add(left)})
		require.Equal(t, want, f.results[0].Status, left)
	}
}
