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
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/devstack"
)

// hunt looks for secrets.
type hunt struct {
	l *life

	mu               sync.Mutex
	secrets          map[string]string // what it is → the value
	seeks, processes int
	unjudged         map[string][]byte // what processes showed, to be looked through once every secret is known
}

// seek fails the test when any secret, plain or in base64, stands in the content.
func (h *hunt) seek(where string, content []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.seeks++
	for what, value := range h.secrets {
		for _, form := range []string{value, base64.StdEncoding.EncodeToString([]byte(value)), strings.ReplaceAll(value, "/", `\/`)} {
			if bytes.Contains(content, []byte(form)) {
				h.l.t.Errorf("found where it does not belong: %s, in %s", what, where)
				break
			}
		}
	}
}

// watch collects what is generated while attempts live, and what every process of the stack shows of itself.
func (h *hunt) watch() (stop func()) {
	ctx, cancel := context.WithCancel(h.l.ctx)
	h.unjudged = map[string][]byte{}
	var watching sync.WaitGroup
	watching.Go(func() {
		for tick := time.NewTicker(10 * time.Millisecond); ; {
			h.generated()
			h.processesNow()
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
		for where, content := range h.unjudged {
			h.seek(where, content)
		}
	}
}

// generated reads the secrets that programs make up: they lie in the work directories as long as an attempt lives.
func (h *hunt) generated() {
	for pattern, what := range map[string]string{
		"install-*/auth/kubeadmin-password":                 "kubeadmin-password",
		"install-*/auth/kubeconfig":                         "kubeconfig",
		"cco/out/tls/bound-service-account-signing-key.key": "signer",
		"../token": "attempt-token",
	} {
		paths, _ := filepath.Glob(filepath.Join(h.l.Dir, "work", "*", "work", pattern)) // the patterns are well formed
		for _, path := range paths {
			raw, err := os.ReadFile(path)
			if err != nil || len(raw) == 0 {
				continue // it was removed, or is being written
			}
			switch value := strings.TrimSpace(string(raw)); what {
			case "kubeconfig":
				if _, rest, ok := strings.Cut(value, "client-key-data: "); ok {
					h.add(what, strings.Fields(rest)[0])
				}
			case "signer":
				h.add(what, keyLine(value))
			case "attempt-token":
				if parts := strings.Split(value, "."); len(parts) == 3 {
					h.add(what, parts[2])
				}
			default:
				h.add(what, value)
			}
		}
	}
}

// processesNow keeps the arguments and the environment of every process that knows the stack's folder.
func (h *hunt) processesNow() {
	procs, _ := filepath.Glob("/proc/[0-9]*") // the pattern is well formed
	for _, proc := range procs {
		args, err := os.ReadFile(filepath.Join(proc, "cmdline"))
		if err != nil || len(args) == 0 {
			continue
		}
		environ, _ := os.ReadFile(filepath.Join(proc, "environ"))
		shown := append(append(args, 0), environ...)
		if !bytes.Contains(shown, []byte(h.l.Dir)) || filepath.Base(proc) == fmt.Sprint(os.Getpid()) {
			continue
		}
		first, _, _ := bytes.Cut(args, []byte{0})
		key := fmt.Sprintf("arguments or environment of %s (%s)", filepath.Base(string(first)), filepath.Base(proc))
		if len(h.unjudged[key]) < len(shown) { // a process has its parent's until it has its own
			h.unjudged[key] = shown
			h.processes = len(h.unjudged)
		}
	}
}

func (h *hunt) everythingWasCaught() {
	h.mu.Lock()
	defer h.mu.Unlock()
	var names []string
	for what := range h.secrets {
		names = append(names, what)
	}
	all := strings.Join(names, "; ")
	for _, what := range []string{"kubeadmin-password", "kubeconfig", "signer", "attempt-token", "session", "AWS proof", "one-time link", "link to the password"} {
		require.Contains(h.l.t, all, what, "never seen, so never looked for")
	}
	for _, program := range []string{"ocpctl-runner", "openshift-install", "ccoctl", "ocpctl-server"} {
		found := false
		for key := range h.unjudged {
			found = found || strings.Contains(key, " "+program+" ")
		}
		require.True(h.l.t, found, "no process of %s was looked at", program)
	}
}

// sources asks everything an auditor may ask.
func (h *hunt) sources(when string) {
	token, err := h.l.Token("auditor")
	require.NoError(h.l.t, err)
	paths := []string{
		"/api/v1/clusters", "/", "/metrics", "/healthz", "/runbooks", "/approvals", "/audit", "/deliveries", "/limits", "/usage", "/findings", "/me",
		"/api/v1/me", "/api/v1/approvals", "/api/v1/audit?limit=500", "/api/v1/audit/export", "/api/v1/deliveries", "/api/v1/reports/usage",
	}
	for _, c := range h.l.clusters() {
		at := "/api/v1/clusters/" + c.ID
		paths = append(paths, at, at+"/outputs", at+"/kubeconfig", at+"/timeline", at+"/explain", at+"/logs?lines=5000", at+"/shares", "/clusters/"+c.ID)
	}
	for path, ids := range map[string]string{"/api/v1/jobs/": "jobs", "/api/v1/approvals/": "approvals", "/approvals/": "approvals", "/api/v1/deliveries/": "deliveries", "/deliveries/": "deliveries"} {
		rows, err := h.l.pool.Query(h.l.ctx, "SELECT id FROM "+ids+" ORDER BY id DESC LIMIT 5")
		require.NoError(h.l.t, err)
		for rows.Next() {
			var id string
			require.NoError(h.l.t, rows.Scan(&id))
			paths = append(paths, path+id)
		}
		require.NoError(h.l.t, rows.Err())
	}
	for _, path := range paths {
		req, err := http.NewRequestWithContext(h.l.ctx, http.MethodGet, h.l.PrivateURL()+path, nil)
		require.NoError(h.l.t, err)
		req.Header.Set("Authorization", "Bearer "+token)
		req.AddCookie(&http.Cookie{Name: "ocpctl_session", Value: token})
		resp, err := http.DefaultClient.Do(req)
		require.NoError(h.l.t, err)
		body, err := io.ReadAll(resp.Body)
		require.NoError(h.l.t, errors.Join(err, resp.Body.Close()))
		require.NotEqual(h.l.t, http.StatusTooManyRequests, resp.StatusCode, path)
		h.seek("the answer to GET "+path+" "+when, body)
	}
}

// words looks through what people read on the pull request.
func (h *hunt) words(pr int) {
	for _, c := range h.l.GitHub.Comments(pr) {
		h.seek(fmt.Sprintf("comment %d", c.ID), []byte(c.Body))
	}
	for _, c := range h.l.GitHub.Checks(pr) {
		raw, err := json.Marshal(c)
		require.NoError(h.l.t, err)
		h.seek(fmt.Sprintf("check run %d", c.ID), raw)
	}
}

// database looks through a dump of every table.
func (h *hunt) database() {
	rows, err := h.l.pool.Query(h.l.ctx, "SELECT quote_ident(schemaname) || '.' || quote_ident(tablename) FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')")
	require.NoError(h.l.t, err)
	var tables []string
	for rows.Next() {
		var name string
		require.NoError(h.l.t, rows.Scan(&name))
		tables = append(tables, name)
	}
	require.NoError(h.l.t, rows.Err())
	require.Greater(h.l.t, len(tables), 15)
	conn, err := h.l.pool.Acquire(h.l.ctx)
	require.NoError(h.l.t, err)
	defer conn.Release()
	for _, table := range tables {
		var dump bytes.Buffer
		_, err := conn.Conn().PgConn().CopyTo(h.l.ctx, &dump, "COPY "+table+" TO STDOUT")
		require.NoError(h.l.t, err)
		h.seek("table "+table, dump.Bytes())
	}
}

// files looks through everything in the stack's folder but the places where secrets live: the files of references, the
// stand-ins' own keys, PostgreSQL's pages (dumped) and S3's objects (unpacked).
func (h *hunt) files() {
	own := map[string]bool{"secrets": true, "tokens": true, "oidc": true, "github-app.pem": true, "s3": true, "installers": true, "postgres/data": true}
	err := filepath.WalkDir(h.l.Dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(h.l.Dir, path)
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
		h.seek(rel, raw)
		return err
	})
	require.NoError(h.l.t, err)
}

// artifacts looks through every object outside operate/, archives unpacked.
func (h *hunt) artifacts() {
	root := filepath.Join(h.l.Dir, "s3", "buckets", devstack.Bucket)
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
		h.seek(strings.TrimPrefix(path, root), raw)
		switch {
		case strings.HasSuffix(path, ".tar.zst"):
			archives++
			return h.unpack(strings.TrimPrefix(path, root), raw)
		case strings.HasSuffix(path, ".log"):
			logs++
		}
		return nil
	})
	require.NoError(h.l.t, err)
	require.Positive(h.l.t, archives)
	require.Positive(h.l.t, logs)
	bundles, err := filepath.Glob(filepath.Join(root, "operate", "clusters", "*", "*", "log-bundle-*"))
	require.NoError(h.l.t, err)
	require.NotEmpty(h.l.t, bundles, "the failed install's bundle of logs is kept, under operate/")
	h.opensNothing(root)
}

// opensNothing waits until nothing that opened a cluster is left of those that are gone, in any version.
func (h *hunt) opensNothing(root string) {
	var gone []string
	require.NoError(h.l.t, h.l.pool.QueryRow(h.l.ctx, "SELECT array_agg(id) FROM clusters WHERE status = 'DESTROYED'").Scan(&gone))
	require.NotEmpty(h.l.t, gone)
	require.Eventually(h.l.t, func() bool {
		for _, id := range gone {
			for _, name := range []string{"kubeconfig", "kubeadmin-password", "auth-bundle.tar.zst"} {
				left, err := filepath.Glob(filepath.Join(root, "operate", "clusters", id, "*", name))
				if err != nil || len(left) > 0 {
					return false
				}
			}
		}
		return true
	}, 20*time.Second, 100*time.Millisecond, "the credentials of gone clusters are still in the bucket")
}

func (h *hunt) unpack(name string, raw []byte) error {
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
		h.seek(name+": "+header.Name, content)
	}
}
