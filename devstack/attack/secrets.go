package attack

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/devstack"
	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/devstack/oidc"
)

// secretAttacks look for secrets wherever people without access to them may look: in a database dump, in files and logs, in
// processes' arguments and environments, in the bucket outside operate/, and in what an auditor may read. They run last, so that
// there is much to search.
func secretAttacks() []attack {
	return []attack{
		{name: "secret/database", who: "whoever reads a dump", tried: "find a secret in any table", short: true, play: inDatabase},
		{name: "secret/files", who: "whoever reads logs", tried: "find a secret in any log or file beside those of references", play: inFiles},
		{name: "secret/processes", who: "whoever lists processes", tried: "find a secret in arguments and environments", short: true, play: inProcesses},
		{name: "secret/bucket", who: "whoever reads destroy bundles and logs", tried: "find a secret in the bucket outside operate/", play: inBucket},
		{name: "secret/auditor", who: "auditor", tried: "find a secret in anything the API and the pages show", play: inAnswers},
	}
}

// secretScan is a search for secrets.
type secretScan struct {
	secrets map[string][]string // what it is, and the forms in which it would be found
	places  int
	found   []string
}

// startSecretScan collects the installation's secrets and those of the victim's cluster.
func (t *target) startSecretScan(ctx context.Context) (_ *secretScan, err error) {
	defer must.Catch(&err)
	v := must.Get(t.victimOf(ctx))
	h := &secretScan{secrets: map[string][]string{}}
	h.add("webhook secret", t.Secrets.Webhook)
	h.add("Slack's secret", t.Secrets.Slack)
	h.add("Slack's bot token", t.Secrets.SlackBot)
	h.add("cloud key", t.Secrets.CloudKey)
	_, auth, _ := strings.Cut(t.Secrets.Pull, `"auth":"`)
	auth, _, _ = strings.Cut(auth, `"`)
	h.add("pull secret", auth)
	for what, path := range map[string]string{"session key": "secrets/session-key.pem", "status key": "secrets/status-key.pem", "ssh key": "secrets/ssh-key", "App's key": "github-app.pem"} {
		raw := must.Get(os.ReadFile(filepath.Join(t.Dir, path)))
		lines := strings.Split(strings.TrimSpace(string(raw)), "\n")
		h.add(what, strings.TrimSpace(lines[len(lines)/2]))
	}
	installers := must.Get(t.stored(ctx, v.KubeconfigRef))
	for what, in := range map[string][2]string{"a cluster's admin key": {string(installers), "client-key-data: "}, "a reader's token": {v.kubeconfig, "token: "}} {
		_, value, _ := strings.Cut(in[0], in[1])
		if fields := strings.Fields(value); len(fields) > 0 {
			h.add(what, fields[0])
		}
	}
	password := must.Get(t.stored(ctx, v.KubeadminRef))
	h.add("a kubeadmin password", strings.TrimSpace(string(password)))
	for attempt, token := range t.relay.seen(20) {
		h.add("the token of "+attempt, token[strings.LastIndexByte(token, '.')+1:])
	}
	must.FailIf(len(h.secrets) < 13, "only %d secrets are known", len(h.secrets))
	return h, nil
}

// stored reads the object of a reference.
func (t *target) stored(ctx context.Context, ref string) ([]byte, error) {
	_, at, _ := strings.Cut(strings.TrimPrefix(ref, "s3://"), "/")
	return t.object(ctx, at)
}

func (s *secretScan) add(what, value string) {
	if len(value) > 8 {
		s.secrets[what] = []string{value, base64.StdEncoding.EncodeToString([]byte(value)), strings.ReplaceAll(value, "/", `\/`)}
	}
}

// look searches one place.
func (s *secretScan) look(where string, content []byte) {
	s.places++
	for what, forms := range s.secrets {
		if slices.ContainsFunc(forms, func(form string) bool { return bytes.Contains(content, []byte(form)) }) {
			s.found = append(s.found, what+" in "+where)
		}
	}
}

func (s *secretScan) result(least int) (result, error) {
	switch {
	case len(s.found) > 0:
		slices.Sort(s.found)
		return through("%d finds: %s", len(s.found), strings.Join(s.found[:min(5, len(s.found))], "; "))
	case s.places < least:
		return result{}, fmt.Errorf("only %d places were looked through", s.places)
	}
	return held("%d secrets looked for in %d places, none found", len(s.secrets), s.places)
}

func inDatabase(ctx context.Context, t *target) (result, error) {
	h := must.Get(t.startSecretScan(ctx))
	conn := must.Get(t.pool.Acquire(ctx))
	defer conn.Release()
	rows := must.Get(conn.Query(ctx, "SELECT quote_ident(schemaname) || '.' || quote_ident(tablename) FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')"))
	var tables []string
	for rows.Next() {
		var name string
		must.Do(rows.Scan(&name))
		tables = append(tables, name)
	}
	must.Do(rows.Err())
	for _, table := range tables {
		var dump bytes.Buffer
		must.Get(conn.Conn().PgConn().CopyTo(ctx, &dump, "COPY "+table+" TO STDOUT"))
		h.look("table "+table, dump.Bytes())
	}
	return h.result(15)
}

// walk searches the files of a folder, except the skipped ones.
func (s *secretScan) walk(root string, skip func(rel string, d fs.DirEntry) bool) error {
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // a file of a runner that was deleted meanwhile
		}
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		switch {
		case err != nil:
			return err
		case skip(filepath.ToSlash(rel), d) && d.IsDir():
			return fs.SkipDir
		case skip(filepath.ToSlash(rel), d), !d.Type().IsRegular():
			return nil
		}
		raw, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		s.look(rel, raw)
		return err
	})
}

func inFiles(ctx context.Context, t *target) (result, error) {
	h := must.Get(t.startSecretScan(ctx))
	own := []string{"secrets", "tokens", "oidc", "saml", "github-app.pem", "s3", "installers", "postgres/data"} // places for secrets, or places searched separately
	must.Do(h.walk(t.Dir, func(rel string, d fs.DirEntry) bool {
		living := strings.HasPrefix(rel, "work/") && strings.Count(rel, "/") >= 2 // the files of a running attempt
		return slices.Contains(own, rel) || living || d.Name() == "token"
	}))
	return h.result(10)
}

func inProcesses(ctx context.Context, t *target) (result, error) {
	h := must.Get(t.startSecretScan(ctx))
	k, id, err := t.capture(ctx, t.unique("procs"), callRecordIdentity) // a runner to inspect
	must.Do(err)
	defer k.stop()
	procs := must.Get(filepath.Glob("/proc/[0-9]*"))
	seen := map[string]int{}
	for _, proc := range procs {
		args, err := os.ReadFile(filepath.Join(proc, "cmdline"))
		if err != nil || len(args) == 0 || filepath.Base(proc) == fmt.Sprint(os.Getpid()) {
			continue
		}
		environ, _ := os.ReadFile(filepath.Join(proc, "environ")) // another user's cannot be read
		shown := append(append(args, 0), environ...)
		if !bytes.Contains(shown, []byte(t.Dir)) {
			continue
		}
		first, _, _ := bytes.Cut(args, []byte{0})
		seen[filepath.Base(string(first))]++
		h.look("arguments or environment of "+filepath.Base(string(first)), shown)
	}
	must.Do(t.endOf(ctx, id))
	must.FailIf(seen["ocpctl-server"] == 0 || seen["ocpctl-runner"] == 0, "no server or no runner among the processes: %v", seen)
	return h.result(2)
}

func inBucket(ctx context.Context, t *target) (result, error) {
	h := must.Get(t.startSecretScan(ctx))
	root := filepath.Join(t.Dir, "s3", "buckets", devstack.Bucket)
	must.Do(filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && path == filepath.Join(root, "operate") {
			return fs.SkipDir
		}
		if err != nil || !d.Type().IsRegular() || filepath.Ext(path) == ".md" {
			return err
		}
		raw, err := os.ReadFile(path)
		if err == nil && strings.HasSuffix(path, ".tar.zst") {
			if inner, err := unpacked(raw); err == nil { // a hostile archive of an attack cannot be unpacked
				raw = inner
			}
		}
		h.look(strings.TrimPrefix(path, root), raw)
		return err
	}))
	return h.result(10)
}

func inAnswers(ctx context.Context, t *target) (result, error) {
	h := must.Get(t.startSecretScan(ctx))
	c := must.Get(t.as(oidc.Auditor))
	v := must.Get(t.victimOf(ctx))
	id := v.ID
	for _, at := range []string{
		"/api/v1/clusters?limit=500", "/api/v1/jobs?limit=500", "/api/v1/audit?limit=500", "/api/v1/audit/export", "/api/v1/deliveries?limit=500", "/api/v1/approvals", "/api/v1/findings", "/api/v1/reports/usage", "/api/v1/reports/forecast", "/api/v1/reports/chargeback", "/api/v1/reports/focus",
		"/api/v1/catalogue", "/metrics", "/healthz", "/readyz", "/api/v1/clusters/" + id, "/api/v1/clusters/" + id + "/timeline", "/api/v1/clusters/" + id + "/explain",
		"/api/v1/clusters/" + id + "/logs?lines=5000", "/api/v1/clusters/" + id + "/outputs", "/api/v1/clusters/" + id + "/kubeconfig",
	} {
		who := c
		if at == "/metrics" { // which knows no people
			who = t.nobody()
		}
		got := must.Get(patient(ctx, func() (answer, error) { return who.ask(ctx, http.MethodGet, at, nil) }))
		h.look("GET "+at, got.body)
	}
	pages := must.Get(t.everyPage(ctx, id))
	for at, page := range pages {
		h.look("GET "+at, []byte(page))
	}
	return h.result(20)
}
