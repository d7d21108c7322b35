package devstack_test

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack"
	"github.com/ocpctl/ocpctl/internal/artifacts"
)

// secretScan looks for secrets.
type secretScan struct {
	l *life

	mu                  sync.Mutex
	secrets             map[string]string // what it is → the value
	searches, processes int
	unjudged            map[string]shown // what processes showed, to be looked through once every secret is known
}

// shown is what a process shows of itself.
type shown struct{ args, environ []byte }

const ibmKey = "IBM Cloud's key"

// mayHave reports that a place is meant for a secret: the tools of IBM Cloud read no file, so they have the key in their environment.
func mayHave(where, what string) bool {
	return what == ibmKey && slices.ContainsFunc([]string{"openshift-install", "ccoctl"}, func(tool string) bool {
		return strings.HasPrefix(where, "environment of "+tool+" ")
	})
}

// search fails the test when any secret, plain or in base64, stands in the content.
func (s *secretScan) search(where string, content []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.searches++
	for what, value := range s.secrets {
		if mayHave(where, what) {
			continue
		}
		for _, form := range []string{value, base64.StdEncoding.EncodeToString([]byte(value)), strings.ReplaceAll(value, "/", `\/`)} {
			if bytes.Contains(content, []byte(form)) {
				s.l.t.Errorf("found where it does not belong: %s, in %s", what, where)
				break
			}
		}
	}
}

// watch collects what is generated while attempts live, and what every process of the stack shows of itself.
func (s *secretScan) watch() (stop func()) {
	ctx, cancel := context.WithCancel(s.l.ctx)
	s.unjudged = map[string]shown{}
	var watching sync.WaitGroup
	watching.Go(func() {
		for tick := time.NewTicker(10 * time.Millisecond); ; {
			s.generated()
			s.processesNow()
			select {
			case <-ctx.Done():
				tick.Stop()
				return
			case <-tick.C:
			}
		}
	})
	return func() {
		cancel()
		watching.Wait()
		for process, its := range s.unjudged {
			s.search("arguments of "+process, its.args)
			s.search("environment of "+process, its.environ)
		}
	}
}

// generated reads the secrets that programs make up: they lie in the work directories as long as an attempt lives.
func (s *secretScan) generated() {
	for pattern, what := range map[string]string{
		"install-*/auth/kubeadmin-password":                 "kubeadmin-password",
		"install-*/auth/kubeconfig":                         "kubeconfig",
		"cco/out/tls/bound-service-account-signing-key.key": "signer",
		"cco/out/manifests/*.yaml":                          "service key",
		"../token":                                          "attempt-token",
	} {
		paths, _ := filepath.Glob(filepath.Join(s.l.Dir, "work", "*", "work", pattern)) // the patterns are well formed
		for _, path := range paths {
			raw, err := os.ReadFile(path)
			if err != nil || len(raw) == 0 {
				continue // it was removed, or is being written
			}
			switch value := strings.TrimSpace(string(raw)); what {
			case "kubeconfig":
				if _, rest, ok := strings.Cut(value, "client-key-data: "); ok {
					s.add(what, strings.Fields(rest)[0])
				}
			case "service key":
				if _, rest, ok := strings.Cut(value, "ibmcloud_api_key: "); ok {
					s.add(what, strings.Fields(rest)[0])
				}
			case "signer":
				s.add(what, keyLine(value))
			case "attempt-token":
				if parts := strings.Split(value, "."); len(parts) == 3 {
					s.add(what, parts[2])
				}
			default:
				s.add(what, value)
			}
		}
	}
}

// processesNow keeps the arguments and the environment of every process that knows the stack's folder.
func (s *secretScan) processesNow() {
	procs, _ := filepath.Glob("/proc/[0-9]*") // the pattern is well formed
	for _, proc := range procs {
		args, err := os.ReadFile(filepath.Join(proc, "cmdline"))
		if err != nil || len(args) == 0 {
			continue
		}
		environ, _ := os.ReadFile(filepath.Join(proc, "environ"))
		if again, err := os.ReadFile(filepath.Join(proc, "cmdline")); err != nil || !bytes.Equal(args, again) {
			continue // it became another program in between
		}
		if !bytes.Contains(slices.Concat(args, environ), []byte(s.l.Dir)) || filepath.Base(proc) == fmt.Sprint(os.Getpid()) {
			continue
		}
		first, _, _ := bytes.Cut(args, []byte{0})
		key := fmt.Sprintf("%s (%s)", filepath.Base(string(first)), filepath.Base(proc))
		if seen := s.unjudged[key]; len(seen.args)+len(seen.environ) < len(args)+len(environ) { // a process has its parent's until it has its own
			s.unjudged[key] = shown{args, environ}
			s.processes = len(s.unjudged)
		}
	}
}

func (s *secretScan) everythingWasCaught() {
	s.mu.Lock()
	defer s.mu.Unlock()
	var names []string
	for what := range s.secrets {
		names = append(names, what)
	}
	all := strings.Join(names, "; ")
	for _, what := range []string{"kubeadmin-password", "kubeconfig", "signer", "service key", "attempt-token", "session", "AWS proof", "one-time link", "link to the password", "reader's token"} {
		require.Contains(s.l.t, all, what, "never seen, so never looked for")
	}
	for _, program := range []string{"ocpctl-runner", "openshift-install", "ccoctl", "ocpctl-server"} {
		found := false
		for key := range s.unjudged {
			found = found || strings.HasPrefix(key, program+" ")
		}
		require.True(s.l.t, found, "no process of %s was looked at", program)
	}
}

// sources asks everything an auditor may ask.
func (s *secretScan) sources(when string) {
	token, err := s.l.Token("auditor")
	require.NoError(s.l.t, err)
	paths := []string{
		"/api/v1/clusters", "/", "/metrics", "/healthz", "/runbooks", "/approvals", "/audit", "/deliveries", "/limits", "/policy", "/usage", "/findings", "/me", "/admin/orphans", "/reports",
		"/api/v1/me", "/api/v1/orphans", "/api/v1/scans", "/api/v1/approvals", "/api/v1/audit?limit=500", "/api/v1/audit/export", "/api/v1/deliveries", "/api/v1/reports/usage",
	}
	for _, c := range s.l.clusters() {
		at := "/api/v1/clusters/" + c.ID
		paths = append(paths, at, at+"/outputs", at+"/kubeconfig", at+"/timeline", at+"/explain", at+"/logs?lines=5000", at+"/shares", "/clusters/"+c.ID)
	}
	for path, ids := range map[string]string{"/api/v1/jobs/": "jobs", "/api/v1/approvals/": "approvals", "/approvals/": "approvals", "/api/v1/deliveries/": "deliveries", "/deliveries/": "deliveries"} {
		rows, err := s.l.pool.Query(s.l.ctx, "SELECT id FROM "+ids+" ORDER BY id DESC LIMIT 5")
		require.NoError(s.l.t, err)
		for rows.Next() {
			var id string
			require.NoError(s.l.t, rows.Scan(&id))
			paths = append(paths, path+id)
		}
		require.NoError(s.l.t, rows.Err())
	}
	for _, path := range paths {
		req, err := http.NewRequestWithContext(s.l.ctx, http.MethodGet, s.l.PrivateURL()+path, nil)
		require.NoError(s.l.t, err)
		if path != "/metrics" { // which knows no people
			req.Header.Set("Authorization", "Bearer "+token)
		}
		req.AddCookie(&http.Cookie{Name: "ocpctl_session", Value: token})
		resp, err := http.DefaultClient.Do(req)
		require.NoError(s.l.t, err)
		body, err := io.ReadAll(resp.Body)
		require.NoError(s.l.t, errors.Join(err, resp.Body.Close()))
		require.NotEqual(s.l.t, http.StatusTooManyRequests, resp.StatusCode, path)
		s.search("the answer to GET "+path+" "+when, body)
	}
}

// pullRequestTexts looks through what people read on the pull request.
func (s *secretScan) pullRequestTexts(pr int) {
	for _, c := range s.l.GitHub.Comments(pr) {
		s.search(fmt.Sprintf("comment %d", c.ID), []byte(c.Body))
	}
	for _, c := range s.l.GitHub.Checks(pr) {
		raw, err := json.Marshal(c)
		require.NoError(s.l.t, err)
		s.search(fmt.Sprintf("check run %d", c.ID), raw)
	}
}

// database looks through a dump of every table.
func (s *secretScan) database() {
	rows, err := s.l.pool.Query(s.l.ctx, "SELECT quote_ident(schemaname) || '.' || quote_ident(tablename) FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')")
	require.NoError(s.l.t, err)
	var tables []string
	for rows.Next() {
		var name string
		require.NoError(s.l.t, rows.Scan(&name))
		tables = append(tables, name)
	}
	require.NoError(s.l.t, rows.Err())
	require.Greater(s.l.t, len(tables), 15)
	conn, err := s.l.pool.Acquire(s.l.ctx)
	require.NoError(s.l.t, err)
	defer conn.Release()
	for _, table := range tables {
		var dump bytes.Buffer
		_, err := conn.Conn().PgConn().CopyTo(s.l.ctx, &dump, "COPY "+table+" TO STDOUT")
		require.NoError(s.l.t, err)
		s.search("table "+table, dump.Bytes())
	}
}

// files looks through everything in the stack's folder but the places where secrets live: the files of references, the
// stand-ins' own keys, PostgreSQL's pages (dumped) and S3's objects (unpacked).
func (s *secretScan) files() {
	own := map[string]bool{"secrets": true, "tokens": true, "oidc": true, "github-app.pem": true, "s3": true, "installers": true, "postgres/data": true}
	err := filepath.WalkDir(s.l.Dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(s.l.Dir, path)
		switch {
		case err != nil:
			return err
		case own[filepath.ToSlash(rel)] && d.IsDir():
			return fs.SkipDir
		case own[rel] || !d.Type().IsRegular():
			return nil
		case rel == "faults.json", d.Name() == "token": // the test's own words to the stand-in; how an attempt is handed its token
			return nil
		}
		raw, err := os.ReadFile(path)
		s.search(rel, raw)
		return err
	})
	require.NoError(s.l.t, err)
}

// artifacts looks through every object outside operate/, archives unpacked.
func (s *secretScan) artifacts() {
	root := filepath.Join(s.l.Dir, "s3", "buckets", devstack.Bucket)
	archives, logs := 0, 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			if err == nil && path == filepath.Join(root, "operate") {
				return fs.SkipDir
			}
			return err
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		s.search(strings.TrimPrefix(path, root), raw)
		switch {
		case strings.HasSuffix(path, ".tar.zst"):
			archives++
			return s.unpack(strings.TrimPrefix(path, root), raw)
		case strings.HasSuffix(path, ".log"):
			logs++
		}
		return nil
	})
	require.NoError(s.l.t, err)
	require.Positive(s.l.t, archives)
	require.Positive(s.l.t, logs)
	bundles, err := filepath.Glob(filepath.Join(root, "operate", "clusters", "*", "*", "log-bundle-*"))
	require.NoError(s.l.t, err)
	require.NotEmpty(s.l.t, bundles, "the failed install's bundle of logs is kept, under operate/")
	s.opensNothing(root)
}

// opensNothing waits until nothing that opened a cluster is left of those that are gone, in any version.
func (s *secretScan) opensNothing(root string) {
	var gone []string
	require.NoError(s.l.t, s.l.pool.QueryRow(s.l.ctx, "SELECT array_agg(id) FROM clusters WHERE status = 'DESTROYED'").Scan(&gone))
	require.NotEmpty(s.l.t, gone)
	require.Eventually(s.l.t, func() bool {
		for _, id := range gone {
			for _, name := range []string{"kubeconfig", "kubeadmin-password", "auth-bundle.tar.zst", artifacts.AccessFile("*")} {
				left, err := filepath.Glob(filepath.Join(root, "operate", "clusters", id, "*", name))
				if err != nil || len(left) > 0 {
					return false
				}
			}
		}
		return true
	}, 20*time.Second, 100*time.Millisecond, "the credentials of gone clusters are still in the bucket")
}

func (s *secretScan) unpack(name string, raw []byte) error {
	decoder, err := zstd.NewReader(bytes.NewReader(raw))
	if err != nil {
		return err
	}
	defer decoder.Close()
	files := tar.NewReader(decoder)
	for {
		header, err := files.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		content, err := io.ReadAll(files)
		if err != nil {
			return err
		}
		s.search(name+": "+header.Name, content)
	}
}
