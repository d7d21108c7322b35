//go:build web

package devstack_test

import (
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/route53/types"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/app/web"
	"github.com/ocpctl/ocpctl/devstack"
	"github.com/ocpctl/ocpctl/devstack/aws"
	"github.com/ocpctl/ocpctl/devstack/installer"
	"github.com/ocpctl/ocpctl/devstack/npm"
	"github.com/ocpctl/ocpctl/internal/tagkey"
)

// scene is what the scripts in devstack/browser find on the pages.
type scene struct {
	People   map[string]string `json:"people"`   // logins by role
	Clusters map[string]string `json:"clusters"` // ids by name
	Paths    []string          `json:"paths"`    // of every page that needs a sign-in
	Open     []string          `json:"open"`     // of the others
	Pulls    map[string]int    `json:"pulls"`    // numbers of pull requests, by the picture of the documents
	Places   map[string]string `json:"places"`   // addresses of the stand-ins, and ids of channels
}

// The pages in a real browser, against a whole stack: whether everybody can use them, and what they do while somebody reads.
func TestThePagesInABrowser(t *testing.T) {
	l := newLifeOf(t, devstack.Config{Hour: time.Hour})
	s := l.setScene()
	for _, script := range []string{"access.mjs", "behaviour.mjs", "walk.mjs"} {
		t.Run(script, func(t *testing.T) { l.in(t).drive(script, s) })
	}
}

// drive runs a script in Node.js, which drives Chromium.
func (l *life) drive(script string, s scene) {
	l.t.Helper()
	packages, err := npm.Install("browser", os.DirFS("browser"))
	require.NoError(l.t, err)
	chromium, err := findChromium()
	require.NoError(l.t, err)
	raw, err := json.Marshal(s)
	require.NoError(l.t, err)
	node := exec.CommandContext(l.ctx, "node", "browser/"+script)
	node.Env = append(os.Environ(), "PACKAGES="+packages, "CHROMIUM="+chromium, "HOME_URL="+l.PrivateURL(), "SCENE="+string(raw))
	out, err := node.CombinedOutput()
	require.NoError(l.t, err, "%s", out)
}

func findChromium() (string, error) {
	for _, name := range []string{os.Getenv("CHROMIUM"), "chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("these tests need Chromium: install it (Debian: apt-get install chromium), or set CHROMIUM to the program")
}

// setScene makes clusters in every state, an approval, and findings.
func (l *life) setScene() scene {
	l.t.Helper()
	l.catalogueWith(map[string]string{
		"policies/long.yaml": "name: long\nrules:\n  - {name: days, when: request.ttlHours > 48, effect: requireApproval, message: More than two days need an approval.}\n",
		"pools/quiet.yaml":   "name: quiet\ndisplayName: Quiet\ndescription: Nothing waits in it.\nprofile: aws-minimal-test\nteam: platform\nsize: 1\nrunning: 1\nmax: 4\nwaitingMonthlyDollars: 2000\npaused: true\n",
	})
	s := scene{Open: []string{"/login", "/runbooks/", "/runbooks/orphans", "/api/docs", "/nothing-here"}, People: map[string]string{"requester": "maya", "auditor": "ada", "platform admin": "will"}, Clusters: map[string]string{}}
	require.NoError(l.t, installer.SetFault(l.Faults(), "create/coming", &installer.Fault{FailAt: "bootstrap", Pause: true}))
	require.NoError(l.t, installer.SetFault(l.Faults(), "create/broken", &installer.Fault{FailAt: "bootstrap"}))
	pr, err := l.GitHub.Open("Checkout", "maya")
	require.NoError(l.t, err)
	require.NoError(l.t, l.GitHub.Label(pr, label, "maya"))
	for _, name := range []string{"shown", "gone", "stuck", "coming", "broken"} {
		s.Clusters[name] = l.requested(name, name)
	}
	_, at, page := l.signIn("maya").visit("/new", url.Values{"key": {"waiting"}, "name": {"waiting"}, "profile": {"aws-minimal-test"}, "team": {"platform"}, "ttl": {"72h"}, "do": {"create"}})
	require.Regexp(l.t, "^/clusters/clu_", at, page)
	s.Clusters["waiting"] = path.Base(at)
	for _, name := range []string{"shown", "gone", "stuck"} {
		l.as("admin").until(name, "ready", isReady)
	}
	tags := map[string]string{}
	for _, r := range l.AWS.Resources("") {
		if r.Type == "vpc" && r.Tags[tagkey.ClusterID] == s.Clusters["gone"] {
			tags = maps.Clone(r.Tags)
		}
	}
	l.changeRecord(types.ChangeActionCreate, "external.stuck.labs.example.com")
	l.destroy(s.Clusters["stuck"])
	l.destroy(s.Clusters["gone"])
	l.as("admin").until(s.Clusters["gone"], "gone", isGone)
	maps.DeleteFunc(tags, func(key, _ string) bool { return key == tagkey.Name || strings.HasPrefix(key, "ocpctl-standin/") })
	volume := l.plant(aws.Resource{Service: "ec2", Type: "volume", Tags: tags, Attrs: map[string]string{"type": "gp3", "size": "100"}})
	l.scanUntil("the volume is an orphan", func() bool { return l.orphanOf(volume.ARN()).OrphanID != "" })
	l.runUntil("the record is a finding", time.Minute, func() bool { return l.count("SELECT count(*) FROM findings WHERE resolved_at IS NULL") > 0 })
	l.as("admin").until(s.Clusters["broken"], "over", isGone)
	approval := ask[v1.ApprovalPage](l.as("admin"), http.MethodGet, "/api/v1/approvals?state=pending", nil, http.StatusOK).Items[0].ApprovalID
	s.Paths = l.pathsOf(s, approval, l.orphanOf(volume.ARN()).OrphanID)
	return s
}

// pathsOf returns the addresses of every page: a new route has to be named here.
func (l *life) pathsOf(s scene, approval, orphan string) (paths []string) {
	l.t.Helper()
	var delivery string
	require.NoError(l.t, l.pool.QueryRow(l.ctx, "SELECT id::text FROM deliveries ORDER BY id LIMIT 1").Scan(&delivery))
	visits := map[string][]string{
		"/{$}": {"/"}, "/clusters": {"/clusters", "/clusters?show=all", "/clusters?q=status:nothing"}, "/new": {"/new"}, "/me": {"/me"}, "/device": {"/device"}, "/links/{link}": {"/links/none"},
		"/clusters/{id}/destroy": {"/clusters/" + s.Clusters["shown"] + "/destroy"},
		"/approvals":             {"/approvals"}, "/approvals/{id}": {"/approvals/" + approval},
		"/clusters/{id}/logs": {"/clusters/" + s.Clusters["broken"] + "/logs"}, "/clusters/{id}/logs/{attempt}": {"/clusters/" + s.Clusters["broken"] + "/logs/1?find=level"},
		"/orphans/removal": {"/orphans/removal?id=" + orphan}, "/deliveries/{id}": {"/deliveries/" + delivery}, "/pools/{name}": {"/pools/quiet"},
	}
	for _, id := range slices.Sorted(maps.Values(s.Clusters)) {
		visits["/clusters/{id}"] = append(visits["/clusters/{id}"], "/clusters/"+id)
	}
	parameter := regexp.MustCompile(`[{}]`)
	for _, route := range web.Routes() {
		path, isPage := strings.CutPrefix(route, "GET ")
		switch {
		case !isPage || strings.HasSuffix(path, ".csv"), strings.HasSuffix(path, ".txt"):
		case visits[path] != nil:
			paths = append(paths, visits[path]...)
		default:
			require.NotRegexp(l.t, parameter, path, "name addresses of this page in pathsOf")
			paths = append(paths, path)
		}
	}
	return append(paths, "/nothing-here")
}
