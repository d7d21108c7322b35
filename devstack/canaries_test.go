package devstack_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/devstack"
	"github.com/ocpctl/ocpctl/devstack/installer"
)

// A whole life with a unique value in every secret, an install that fails with a log bundle and prints what it should not, a second that is
// ready, and an end; beside it a life on IBM Cloud. None of the values is found anywhere but where it belongs: in the files of references,
// in what a living attempt works by, and under operate/.
func TestNoSecretIsFoundWhereItDoesNotBelong(t *testing.T) {
	t.Parallel()
	pull := base64.StdEncoding.EncodeToString([]byte("canary:pull-4f8a1c"))
	given := devstack.Secrets{
		Webhook: "canary-webhook-91b2", GitHubClient: "canary-client-3b7e", Slack: "canary-slack-7c3d", SlackBot: "canary-bot-2e6b", SlackApp: "canary-app-9d04", CloudKey: "canary/cloud+key/5e8f0a1b2c3d4e5f6a7b8c9d", RunnerKey: "canary/runner+key/77e1c0d9b8a7968574635241",
		ScanKey: "canary/scan+key/3a9c5e7f1b2d4c6e8f0a1b2c", IBMKey: "canary-ibmcloud-key-6b1f0e2d9c8a",
		Pull: fmt.Sprintf(`{"auths":{"registry.example.com":{"auth":%q,"email":"canary@example.com"}}}`, pull),
	}
	l := newLifeOf(t, devstack.Config{Hour: time.Hour, Secrets: given})
	scan := &secretScan{l: l, secrets: map[string]string{
		"webhook secret": given.Webhook, "App's client secret": given.GitHubClient, "Slack's secret": given.Slack, "Slack's bot token": given.SlackBot, "Slack's app token": given.SlackApp, "cloud key": given.CloudKey, "runner's cloud key": given.RunnerKey, "scan's cloud key": given.ScanKey, ibmKey: given.IBMKey, "pull secret": pull,
	}}
	scan.addKey("ssh key", l.Dir+"/secrets/ssh-key")
	scan.addKey("status key", l.Dir+"/secrets/status-key.pem")
	scan.addKey("GitHub App's key", l.Dir+"/github-app.pem")
	scan.addKey("session key", l.Dir+"/secrets/session-key.pem")
	maya, will := l.signIn("maya"), l.signIn("will")
	scan.addSession("maya's session", maya)
	scan.addSession("will's session", will)
	stop := scan.watch()

	pr, err := l.GitHub.Open("Has secrets", "maya")
	require.NoError(t, err)
	require.NoError(t, installer.WriteFaults(l.Faults(), installer.Faults{"create/" + l.nameOf(pr): {FailAt: "bootstrap", Exit: 5, Message: "context deadline exceeded", Times: 1, Say: []string{
		"level=debug msg=pullSecret: Invalid value: " + given.Pull, "level=info msg=key is " + given.RunnerKey + " and the hook's " + pull,
	}}}))
	require.NoError(t, l.GitHub.Label(pr, label, "maya"))
	l.runUntil("the first is accepted", time.Minute, func() bool { return len(l.clusters()) == 1 })
	beside, err := l.GitHub.Open("Has secrets of IBM Cloud", "maya")
	require.NoError(t, err)
	require.NoError(t, l.GitHub.Label(beside, ibmLabel, "maya"))
	l.runUntil("ready at the second try", 4*time.Minute, l.every("ready"))
	require.Equal(t, 1, l.count("SELECT count(*) FROM attempts WHERE kind = 'create' AND outcome = 'failed'"))
	scan.handOut(maya, will)
	l.scan()
	scan.sources("while it is ready")
	for i, each := range []int{beside, pr} { // one after the other: a release while credentials are being deleted waits for the next time
		_, err = l.GitHub.Comment(each, "/ocp destroy", "maya")
		require.NoError(t, err)
		l.runUntil("released, and its credentials deleted", 2*time.Minute, func() bool {
			return l.count(`SELECT count(*) FROM removals WHERE kind = 'access' AND done_at IS NOT NULL`) == i+1
		})
	}
	require.True(t, l.every("released")())
	stop()
	scan.everythingWasCaught()

	scan.sources("at the end")
	scan.pullRequestTexts(pr)
	scan.pullRequestTexts(beside)
	scan.database()
	scan.files()
	scan.artifacts()
	require.GreaterOrEqual(t, scan.searches, 220, "almost nothing was looked through")
	t.Logf("%d secrets, looked for in %d places, %d processes among them", len(scan.secrets), scan.searches, scan.processes)
}

// handOut gives people and a program what is theirs while the cluster is ready: an AWS proof becomes a session, links are made,
// used and left lying, the kubeadmin password is approved and shown.
func (s *secretScan) handOut(maya, will browser) {
	t, proof := s.l.t, s.l.proof()
	at, err := url.Parse(proof.URL)
	require.NoError(t, err)
	s.add("AWS proof", at.Query().Get("X-Amz-Signature"))
	session := ask[v1.SessionToken](visitor{life: s.l}, http.MethodPost, "/api/v1/auth/aws", v1.AWSProof{URL: proof.URL, Headers: proof.Headers}, http.StatusOK)
	s.add("AWS session", signature(session.Token))
	visitor{life: s.l}.refused(http.MethodPost, "/api/v1/auth/aws", v1.AWSProof{URL: proof.URL, Headers: proof.Headers}, http.StatusUnauthorized)

	robot, id := visitor{s.l, session.Token}, s.l.clusters()[0].ID
	for _, used := range []bool{true, false} {
		link := ask[v1.Link](robot, http.MethodPost, "/api/v1/clusters/"+id+"/kubeconfig-links", nil, http.StatusCreated)
		handle := link.URL[strings.LastIndexByte(link.URL, '/')+1:]
		s.add("one-time link", handle)
		if used {
			var raw []byte
			s.l.runUntil("the kubeconfig of the link is made", time.Minute, func() bool {
				answer, body := robot.send(http.MethodPost, "/api/v1/links/"+handle, nil)
				raw = body
				return answer.StatusCode == http.StatusOK
			})
			_, token, _ := strings.Cut(string(raw), "token: ")
			s.add("reader's token", signature(strings.TrimSpace(token)))
			robot.refused(http.MethodPost, "/api/v1/links/"+handle, nil, http.StatusNotFound)
		}
	}
	_, asked, _ := maya.visit("/clusters/"+id+"/break-glass", url.Values{"reason": {"to see where it goes"}})
	_, _, said := will.visit(asked+"/approve", url.Values{})
	require.Contains(t, said, "Approved.")
	_, link, _ := maya.visit("/clusters/"+id+"/kubeadmin-link", url.Values{})
	s.add("link to the password", strings.TrimPrefix(link, "/links/"))
	_, _, said = maya.visit(link, url.Values{})
	require.Contains(t, said, s.l.kubeadmin(id))
	_, _, said = maya.visit(link, url.Values{})
	s.search("the page of a link that was used", []byte(said))
}

// addKey adds a line from the middle of a private key: the whole is many lines, and each gives it away.
func (s *secretScan) addKey(what, path string) {
	raw, err := os.ReadFile(path)
	require.NoError(s.l.t, err)
	s.add(what, keyLine(string(raw)))
}

// addSession adds what the browser was given. Of a token it is the signature that makes it one.
func (s *secretScan) addSession(what string, b browser) {
	home, err := url.Parse(s.l.PrivateURL())
	require.NoError(s.l.t, err)
	require.NotEmpty(s.l.t, b.Jar.Cookies(home))
	for _, c := range b.Jar.Cookies(home) {
		s.add(what, signature(c.Value))
	}
}

func signature(token string) string { return token[strings.LastIndexByte(token, '.')+1:] }

func keyLine(pem string) string {
	lines := strings.Split(strings.TrimSpace(pem), "\n")
	return strings.TrimSpace(lines[len(lines)/2])
}

func (s *secretScan) add(what, value string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(value) > 8 {
		s.secrets[what+" "+value[:4]] = value
	}
}
