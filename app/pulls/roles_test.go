package pulls_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/pulls"
	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/devstack/servicetest"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/pullrequests"
)

// writer is somebody who comments: with this permission on the repository, and the groups of the sign-in at which they said that
// the account is theirs.
type writer struct {
	login, permission string
	groups            []string
	bot               bool
}

// writers are who writes in the table, in its columns' order: by GitHub's permission alone; then with a linked account: of
// another team, platform admin, the same without a permission here, admin of another team, auditor; then a bot, and whoever
// opened a pull request from a fork.
var writers = []writer{
	{login: "none", permission: "none"}, {login: "read", permission: "read"}, {login: "triage", permission: "triage"},
	{login: "write", permission: "write"}, {login: "maintain", permission: "maintain"}, {login: "admin", permission: "admin"},
	{login: "other", permission: "write", groups: []string{"ocpctl-team-security"}},
	{login: "root", permission: "write", groups: []string{"ocpctl-admins"}},
	{login: "away", permission: "none", groups: []string{"ocpctl-admins"}},
	{login: "chief", permission: "write", groups: []string{"lead-security"}},
	{login: "auditor", permission: "read", groups: []string{"ocpctl-auditors"}},
	{login: "app[bot]", permission: "write", bot: true},
	{login: "forker", permission: "read"},
}

// The pull requests of the table.
const (
	withTwo = 41 // has a cluster of the repository's team, and one that was given to another
	waiting = 43 // has one that a platform admin must approve
	forked  = 42 // is forker's, from a fork
)

// spoken is a line of a comment.
type spoken struct {
	pr   int
	line string
	want string // of each writer: did; told, and nothing changed; no, it was refused; void, nothing here does that yet; - for no answer
}

// lines are what everybody tries: every verb there is.
var lines = []spoken{
	{waiting, "/ocp create aws-standard", "no no no did did did did did no did no - no"},
	{withTwo, "/ocp create aws-minimal-mint", "no no no no no no no did no no no - no"}, // it holds our keys
	{withTwo, "/ocp create aws-minimal-test", "no no no told told told told told no told no - no"},
	{forked, "/ocp create", "no no no did did did did did no did no - no"}, // and waits for somebody's word
	{withTwo, "/ocp status", "no no no told told told told told no told no - no"},
	{withTwo, "/ocp explain aws-minimal-test", "no no no told told told told told no told no - no"},
	{withTwo, "/ocp list", "no no no told told told told told no told no - no"},
	{withTwo, "/ocp extend 1h aws-minimal-test", "no no no did did did did did no did no - no"},
	{withTwo, "/ocp extend 1h aws-standard", "no no no no no no did did no did no - no"},
	{withTwo, "/ocp destroy aws-minimal-test", "no no no did did did did did no did no - no"},
	{withTwo, "/ocp destroy aws-standard", "no no no no no no did did no did no - no"},
	{waiting, "/ocp approve", "no no no no no no no did no no no - no"},
	{waiting, "/ocp refuse not now", "no no no no no no no did no no no - no"},
	{withTwo, "/ocp kubeconfig aws-minimal-test", "no no no did did did told did no told no - no"},
	{withTwo, "/ocp console aws-minimal-test", "no no no did did did told did no told no - no"},
	{withTwo, "/ocp logs aws-minimal-test", "no no no told told told told told no told no - no"},
	{withTwo, "/ocp scale 1 aws-minimal-test", "no no no told told told told told no told no - no"},
	{withTwo, "/ocp sleep aws-minimal-test", "no no no did did did did did no did no - no"},
	{withTwo, "/ocp wake aws-minimal-test", "no no no told told told told told no told no - no"},
	{withTwo, "/ocp refresh aws-minimal-test", "no no no told told told told told no told no - no"}, // it has no add-ons
	{withTwo, "/ocp hold 1h aws-minimal-test", "no no no did did did did did no did no - no"},
	{withTwo, "/ocp retry aws-minimal-test", "no no no told told told told told no told no - no"},
	{withTwo, "/ocp share --team security aws-minimal-test", "no no no did did did did did no did no - no"},
	{withTwo, "/ocp link", "did did did did did did did did did did did - did"},
	{withTwo, "/ocp help", "told told told told told told told told told told told - told"},
}

func TestEveryVerbHasARow(t *testing.T) {
	said := map[string]bool{}
	for _, l := range lines {
		for _, parsed := range chatops.Parse(l.line) {
			require.NotNil(t, parsed.Command, l.line)
			said[string(parsed.Command.Verb)] = true
		}
	}
	known := regexp.MustCompile("`/ocp ([a-z]+)").FindAllStringSubmatch(chatops.Help(), -1)
	require.Greater(t, len(known), 7)
	for _, verb := range known {
		require.True(t, said[verb[1]], "no line says who may /ocp %s", verb[1])
	}
}

// street is a repository with what the lines speak of.
func street(t *testing.T) *fixture {
	h := fixtureWith(t, servicetest.Catalogue(t, map[string]string{
		"teams/platform.yaml":   "name: platform\nowner: maya\ncostCenters: [sandbox]\nenvironments: [test]\n",
		"teams/security.yaml":   "name: security\nowner: will\ncostCenters: [sandbox]\nenvironments: [test]\n",
		"policies/big.yaml":     "name: big\nrules:\n  - {name: one, when: \"request.name.startsWith('big')\", effect: requireApproval, message: Big ones need a word.}\n",
		"identities/leads.yaml": "identities:\n  - {name: leads, source: saml, match: {groups: [\"lead-*\"]}, role: platform_admin, teams: [\"{groups:lead-}\"]}\n",
	}))
	h.GitHub.PRs = map[int]pullrequests.PullRequest{}
	for _, number := range []int{withTwo, waiting, forked} {
		pr := h.PR(true)
		pr.Number, pr.Author = number, "write"
		if number == forked {
			pr.Author, pr.Fork = "forker", true
		}
		h.GitHub.PRs[number] = pr
	}
	for _, w := range writers {
		h.GitHub.Permissions[w.login] = w.permission
		if w.groups == nil {
			continue
		}
		link, err := h.Service.AccountLink(t.Context(), servicetest.OnGitHub(w.login), "7", clusters.Origin{Actor: servicetest.OnGitHub(w.login), Source: string(policy.SourceComment)})
		require.NoError(t, err)
		_, handle, _ := strings.Cut(link.URL.Reveal(), "/links/")
		got, err := h.Service.Redeem(t.Context(), policy.Principal{ID: "saml:" + w.login + "@acme.example", Name: w.login, Proof: &policy.Claims{
			Source: profiles.SourceSAML, Subject: w.login + "@acme.example", Values: map[string][]string{"groups": w.groups},
		}}, handle, app.Origin{Source: policy.SourceWeb})
		require.NoError(t, err)
		require.NoError(t, h.Service.CompleteLink(t.Context(), servicetest.OnGitHub(w.login), got.Code.Reveal(), clusters.Origin{Actor: servicetest.OnGitHub(w.login)}))
	}
	maya := writer{login: "maya"}
	h.writes(maya, 9, spoken{pr: forked, line: "/ocp help"}) // from here on it is known
	for i, said := range []spoken{
		{withTwo, "/ocp create aws-minimal-test --name one", ""}, {withTwo, "/ocp create aws-standard --name two", ""}, {waiting, "/ocp create --name big-one", ""},
	} {
		h.writes(maya, int64(i+1), said)
	}
	for _, row := range h.Clusters() {
		if row.Name != "big-one" {
			servicetest.Ready(t, h.Store, h.Shelf, row)
		}
	}
	_, err := h.Store.Pool().Exec(t.Context(), `UPDATE clusters SET team = 'security' WHERE name = 'two'`)
	require.NoError(t, err)
	return h
}

// writes has somebody comment.
func (h *fixture) writes(w writer, id int64, l spoken) (note string) {
	h.Helper()
	h.Clock = h.Clock.Add(time.Second)
	note, err := h.Service.Comment(h.Context(), pulls.CommentEvent{
		Installation: 5001, Repo: repo, Number: l.pr, ID: id, Author: w.login, AuthorID: servicetest.AccountID(w.login), Bot: w.bot, Action: "created", Body: l.line, At: h.Clock,
	})
	require.NoError(h, err)
	return note
}

func TestEveryCommentIsAnsweredForEverybodyAsItsLineSays(t *testing.T) {
	h := street(t)
	rows := servicetest.Keep(t, h.Store)
	before := len(h.Replies())
	for _, l := range lines {
		h.Service = servicetest.Wire(h.Config()) // of one process, who may do nothing is answered so often and no more
		var got []string
		for _, w := range writers {
			note := h.writes(w, 100, l)
			changed := rows.Changed()
			came := outcome(changed, h.Replies()[before:])
			if reply := strings.Join(append(h.Replies()[before:], note), "\n"); came == "no" {
				require.Regexp(t, "write is needed|you need a role|you need the role|you have to sign in|can approve this|only for platform admins", reply, "it says what it takes")
				require.Regexp(t, "Ask |ask |Comment ", reply, "and what to do")
			}
			got = append(got, came)
			rows.Restore(changed)
		}
		require.Equal(t, l.want, strings.Join(got, " "), l.line)
	}
}

// records are where an answer or a reaction waits, and where it is written down that something was asked and refused, and how
// GitHub said that the pull request stands.
var records = []string{"github_accounts", "github_logins", "replies", "effects", "river_job", "cluster_requests", "request_checks", "request_keys", "audit_events", "audit_head", "pull_requests", "seen_permissions"}

// outcome is what came of a comment.
func outcome(changed, replies []string) string {
	did := slices.ContainsFunc(changed, func(table string) bool { return !slices.Contains(records, table) })
	said := strings.Join(replies, "\n")
	switch {
	case did:
		return "did"
	case said == "" && len(changed) == 0:
		return "-"
	case strings.Contains(said, "does nothing here"):
		return "void"
	case strings.Contains(said, "cannot be done, and nothing was changed"), strings.Contains(said, "you need a role in"), strings.Contains(said, " can approve this. "),
		strings.Contains(said, " you need the role "), strings.Contains(said, " is needed; "), strings.Contains(said, "you have to sign in"):
		return "no"
	}
	return "told"
}
