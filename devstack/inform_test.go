package devstack_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/devstack"
	"github.com/ocpctl/ocpctl/devstack/installer"
	"github.com/ocpctl/ocpctl/devstack/slack"
)

// deploy applies objects to a cluster as a person with a kubeconfig.
func (s terminal) deploy(kubeconfig, objects string) {
	s.t.Helper()
	cmd := exec.CommandContext(s.ctx, filepath.Join(programs, "oc"), "--kubeconfig="+kubeconfig, "apply", "--server-side", "-f", "-")
	cmd.Env = append(s.env[:len(s.env):len(s.env)], installer.AWSVariable+"="+s.AWS.URL())
	cmd.Stdin = strings.NewReader(objects)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	require.NoError(s.t, cmd.Run(), said.String())
}

// read reads one object of a cluster.
func (s terminal) read(kubeconfig string, into any, args ...string) {
	s.t.Helper()
	out, complaint := s.oc(kubeconfig, append(append([]string{"get"}, args...), "-o", "json")...)
	require.Empty(s.t, complaint)
	require.NoError(s.t, json.Unmarshal([]byte(out), into))
}

func routeOf(name, host, more string) string {
	return fmt.Sprintf(`{"apiVersion":"route.openshift.io/v1","kind":"Route","metadata":{"name":%q,"namespace":"shop","labels":{"ocpctl/show":"true"}%s},"spec":{"host":%q,"tls":{"termination":"edge"},"to":{"kind":"Service","name":"web"}}}`, name, more, host)
}

// From a pull request to the card in its cluster, the card's change with the end, and the address of the app in everything that shows the cluster.
func TestAClusterSaysWhoseItIsAndWhatRunsInItIsLinked(t *testing.T) {
	t.Parallel()
	l := newLifeOf(t, devstack.Config{Hour: time.Minute, Looks: time.Second})
	number := l.labelledWith(label, "Show the app")
	name := l.nameOf(number)
	require.NoError(t, installer.SetFault(l.Faults(), "oc-apply/"+name, &installer.Fault{FailAt: "start", Message: "Error from server (Forbidden): configmaps is forbidden"}))
	failed := func() bool {
		return l.count(`SELECT count(*) FROM jobs WHERE job_type = 'INFORM' AND status = 'FAILED' AND error_message LIKE '%configmaps is forbidden%'`) > 0
	}
	l.runUntil("ready, and what fails is shown", 90*time.Second, func() bool { rows := l.clusters(); return len(rows) == 1 && rows[0].Status == "READY" && failed() })
	require.NoError(t, installer.SetFault(l.Faults(), "oc-apply/"+name, nil))
	id := l.clusters()[0].ID

	maya := l.cli("admin")
	file := filepath.Join(t.TempDir(), "kubeconfig")
	maya.run("kubeconfig", name, "--role", "admin", "--static", "-f", file).ends(0)
	var card struct{ Data map[string]string }
	var banner struct{ Spec struct{ Text string } }
	written := func() bool {
		out, _ := maya.oc(file, "get", "configmap", "ocpctl-info", "-n", "openshift-config-managed", "-o", "json")
		return json.Unmarshal([]byte(out), &card) == nil && card.Data["ends"] == ask[v1.Cluster](l.as("admin"), http.MethodGet, "/api/v1/clusters/"+id, nil, http.StatusOK).DestroyAt.Truncate(time.Second).Format(time.RFC3339)
	}
	l.runUntil("the card is written", 30*time.Second, written)
	require.Equal(t, []string{name, "maya", "platform", "ocpctl extend " + name + " 4h"}, []string{card.Data["cluster"], card.Data["owner"], card.Data["team"], card.Data["extend"]})
	require.True(t, strings.HasSuffix(card.Data["pull-request"], fmt.Sprintf("/acme/shop/pull/%d", number)), card.Data)
	l.runUntil("the banner is shown", 30*time.Second, func() bool { // it is written after the card
		out, _ := maya.oc(file, "get", "consolenotifications.console.openshift.io", "ocpctl-info", "-o", "json")
		return json.Unmarshal([]byte(out), &banner) == nil
	})
	require.Contains(t, banner.Spec.Text, fmt.Sprintf("%s belongs to maya (acme/shop#%d) and ends at ", name, number))
	require.Contains(t, banner.Spec.Text, "or comment /ocp extend 4h on the pull request")

	// Whoever may see a namespace only, or nothing, may read the card too.
	looks := filepath.Join(t.TempDir(), "kubeconfig")
	maya.run("kubeconfig", name, "--role", "edit", "--static", "-f", looks).ends(0)
	maya.read(looks, &card, "configmap", "ocpctl-info", "-n", "openshift-config-managed")

	// The end moves, and the card with it.
	before := card.Data["ends"]
	_, err := l.GitHub.Comment(number, "/ocp extend 1h", "maya")
	require.NoError(t, err)
	l.runUntil("the card says the new end", 30*time.Second, func() bool { return written() && card.Data["ends"] != before })

	// The app is deployed, beside what pretends to be somebody else's.
	domain := ".apps." + name + ".labs.example.com"
	maya.deploy(file, `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"shop"}}`)
	maya.deploy(file, `{"apiVersion":"v1","kind":"List","items":[`+strings.Join([]string{
		routeOf("web", "web"+domain, `,"annotations":{"ocpctl/title":"The *shop* @acme/all"}`), routeOf("zzz", "zzz"+domain, ""), routeOf("login", "github.com.evil.example", ""),
	}, ",")+"]}")
	comment := func() string {
		for _, c := range l.GitHub.Comments(number) {
			if strings.Contains(c.Body, "<!-- ocpctl:cluster:") {
				return c.Body
			}
		}
		return ""
	}
	apps := `- The \*shop\* @` + "\u200bacme/all: <https://web" + domain + ">\n- App: <https://zzz" + domain + ">\n"
	l.runUntil("the comment links to both apps", 30*time.Second, func() bool { return strings.Contains(comment(), apps) }) // a look may fall between the two routes
	require.NotContains(t, comment(), "evil.example")
	l.runUntil("check and deployment do", 20*time.Second, func() bool {
		checks, deployments := l.GitHub.Checks(number), l.GitHub.Deployments()
		return len(checks) > 0 && strings.Contains(checks[0].Summary, "https://web"+domain) && len(deployments) == 1 && deployments[0].Statuses[len(deployments[0].Statuses)-1].EnvironmentURL == "https://web"+domain
	})
	require.Equal(t, []v1.ClusterLink{{Title: "The *shop* @acme/all", URL: "https://web" + domain}, {URL: "https://zzz" + domain}},
		ask[v1.Cluster](l.as("admin"), http.MethodGet, "/api/v1/clusters/"+id, nil, http.StatusOK).Links)
	require.Contains(t, maya.run("status", name).ends(0), "https://web"+domain+" The *shop* @acme/all")
	require.Contains(t, l.types("maya", slack.Clusters, "status "+name), "<https://web"+domain+">")
	_, _, page := l.signIn("maya").visit("/clusters/"+id, nil)
	require.Contains(t, page, `<a href="https://web`+domain+`" rel="noreferrer nofollow">`)

	// Further looks find the same, and nothing is written for that.
	edits := func() (n int) {
		for _, c := range l.GitHub.Comments(number) {
			n += c.Edits
		}
		return n + len(l.GitHub.Deployments()[0].Statuses)
	}
	was, done := edits(), l.count(`SELECT count(*) FROM attempts WHERE kind = 'inform' AND outcome = 'succeeded'`)
	l.runUntil("three more looks", 60*time.Second, func() bool {
		return l.count(`SELECT count(*) FROM attempts WHERE kind = 'inform' AND outcome = 'succeeded'`) >= done+3
	})
	require.Equal(t, was, edits())

	// What is gone is no longer shown.
	_, complaint := maya.oc(file, "delete", "route", "web", "-n", "shop")
	require.Empty(t, complaint)
	l.runUntil("the comment follows", 30*time.Second, func() bool { return !strings.Contains(comment(), "https://web"+domain) })
	l.unlabel(number)
}
