//go:build web

package devstack_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack"
	"github.com/ocpctl/ocpctl/devstack/installer"
	"github.com/ocpctl/ocpctl/devstack/slack"
)

// The pictures of the documents: PICTURES=docs/pictures replaces them.
func TestThePicturesOfTheDocumentsInABrowser(t *testing.T) {
	l := newLifeOf(t, devstack.Config{Hour: time.Hour})
	l.catalogueWith(map[string]string{"policies/long.yaml": "name: long\nrules:\n  - {name: days, when: request.ttlHours > 48, effect: requireApproval, message: More than two days need an approval.}\n"})
	s := scene{Pulls: map[string]int{"destroyed": 41, "installing": 43, "ready": 44, "fork": 45}, Places: map[string]string{
		"github": l.GitHub.URL(), "slack": l.Slack.URL(), "clusters": slack.Clusters, "payments": slack.Payments, "admins": slack.Admins,
	}}
	require.NoError(t, installer.SetFault(l.Faults(), "create/"+l.nameOf(s.Pulls["installing"]), &installer.Fault{FailAt: "bootstrap", Pause: true}))
	for _, number := range s.Pulls {
		require.NoError(t, l.GitHub.Label(number, label, "maya"))
	}
	require.Contains(t, l.types("rob", slack.Payments, "create aws-minimal-test --name pay-api --ttl 8h"), "is accepted")
	require.Contains(t, l.types("maya", slack.Clusters, "create aws-minimal-test --name load-test --ttl 72h"), "load-test")

	for _, name := range []string{l.nameOf(s.Pulls["ready"]), l.nameOf(s.Pulls["destroyed"]), "pay-api"} {
		l.as("admin").until(name, "ready", isReady)
	}
	for _, command := range []string{"/ocp status", "/ocp extend 4h"} {
		_, err := l.GitHub.Comment(s.Pulls["ready"], command, "maya")
		require.NoError(t, err)
	}
	require.NoError(t, l.GitHub.Close(s.Pulls["destroyed"], "maya"))
	l.as("admin").until(l.nameOf(s.Pulls["destroyed"]), "gone", isGone)
	l.runUntil("the check shows the progress", time.Minute, func() bool {
		checks := l.GitHub.Checks(s.Pulls["installing"])
		return len(checks) > 0 && checks[0].Status == "in_progress"
	})
	l.drive("pictures.mjs", s)
}
