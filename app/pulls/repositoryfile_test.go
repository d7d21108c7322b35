package pulls_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/devstack/servicetest"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/clusters"
)

func TestARequestIsJudgedByTheFileOfTheBaseBranch(t *testing.T) {
	h := newFixture(t)
	h.GitHub.Files = map[string]string{
		"main": "profiles: [aws-standard]\nttl: 5h\n", h.PR(true).Head: "profiles: [aws-minimal-test]\n",
		"release": "ttl: 9h\ngrace: 1m\n",
	}
	h.Labeled("will", label)
	require.Empty(t, h.Clusters(), "what the pull request itself says counts for nothing")
	require.Contains(t, h.Replies()[0], "repository file")
	h.Comment(1, "will", "/ocp create")
	require.Equal(t, "aws-standard", h.Only().Profile, "of the list, the default")
	require.Equal(t, 5*time.Hour, h.Only().TTL)

	e := h.Event("edited", "will", true)
	e.PR.Base = "release"
	h.Sync(e)
	e = h.Event("labeled", "will", true, label)
	e.PR.Base, e.Label = "release", label
	h.Sync(e)
	require.Equal(t, 9*time.Hour, h.Clusters()[1].TTL, "another base, another file")
}

func TestAFileThatNobodyCanReadRefusesWhatIsNewWithItsLine(t *testing.T) {
	h := newFixture(t)
	h.Labeled("will", label)
	h.File("ttl: 4h\ndraughts: deny\n")
	h.Comment(1, "will", "/ocp create aws-standard")
	require.Contains(t, h.Replies()[0], "ocpctl.yaml:2")
	require.Contains(t, h.Replies()[0], "draughts")
	require.Equal(t, 1, len(h.Clusters()))
	h.Comment(2, "will", "/ocp status\n/ocp extend 1h\n/ocp destroy")
	require.Equal(t, lifecycle.Absent, h.Only().Desired, "what is there goes on")
	require.Equal(t, []string{"react eyes", "react confused", "react eyes", "react +1"}, h.Effects())
}

func TestDraftsHaveAnEndWhereTheFileSaysSo(t *testing.T) {
	for drafts, ends := range map[string]bool{"deny": true, "allow": false} {
		t.Run(drafts, func(t *testing.T) {
			h := newFixture(t)
			h.File("drafts: " + drafts + "\n")
			h.Labeled("will", label)
			e := h.Event("converted_to_draft", "will", true, label)
			e.PR.Draft, e.PR.HeadRef = true, "feature"
			h.Sync(e)
			require.Equal(t, ends, !h.Only().Ends.PRClosed.IsZero())
			if ends {
				require.Equal(t, "the pull request became a draft", h.Only().Ends.Reason().String())
			}
			e = h.Event("ready_for_review", "will", true, label)
			e.PR.HeadRef = "feature"
			h.Sync(e)
			require.True(t, h.Only().Ends.PRClosed.IsZero())

			h.Destroy(h.Only())
			e = h.Event("ready_for_review", "maya", true, label)
			h.Sync(e)
			h.Sync(e)
			if !ends {
				h.Only() // a draft was like any other
				return
			}
			require.Equal(t, 2, len(h.Clusters()), "it is as if it were reopened")
			require.Equal(t, servicetest.OnGitHub("maya"), h.Clusters()[1].RequestedBy)
		})
	}
}

func TestWhatIsMeantWhereNoProfileIsNamed(t *testing.T) {
	rule := map[string]string{"policies/quick.yaml": "name: quick\nrules:\n  - {name: standard, when: \"request.profile == ''\", effect: default, set: {profile: aws-standard}, message: Most want this.}\n"}
	for name, c := range map[string]struct {
		rules      map[string]string
		file, want string
	}{
		"the catalogue's cheapest":          {nil, "", "aws-minimal-test"},
		"the cheapest of the file's list":   {nil, "profiles: [aws-standard]\n", "aws-standard"},
		"a rule before the catalogue":       {rule, "", "aws-standard"},
		"the repository's file before both": {rule, "defaultProfile: aws-minimal-test\n", "aws-minimal-test"},
	} {
		t.Run(name, func(t *testing.T) {
			h := fixtureWith(t, servicetest.Catalogue(t, c.rules))
			h.Sync(h.Event("opened", "will", true))
			h.File(c.file)
			h.Comment(1, "will", "/ocp help")
			require.Contains(t, h.LastReply(), "Profiles: `"+c.want+"`")
			h.Comment(2, "will", "/ocp create")
			require.Equal(t, c.want, h.Only().Profile)
		})
	}
}

func TestWhatAPushDoes(t *testing.T) {
	for does, want := range map[string]struct {
		requests []lifecycle.Desired
		note     string
	}{
		"keep":     {[]lifecycle.Desired{lifecycle.Present}, "nothing to change"},
		"refresh":  {[]lifecycle.Desired{lifecycle.Present}, "was created without add-ons"},
		"recreate": {[]lifecycle.Desired{lifecycle.Absent, lifecycle.Present}, "accepted aws-minimal-test"},
	} {
		t.Run(does, func(t *testing.T) {
			h := newFixture(t)
			h.File("synchronize: " + does + "\n")
			h.Labeled("will", label)
			e := h.Event("synchronize", "maya", true, label)
			e.PR.Head = strings.Repeat("a", 40)
			require.Contains(t, h.Sync(e), want.note)
			require.NotContains(t, h.Sync(e), "accepted", "one push is one")
			var requests []lifecycle.Desired
			for _, row := range h.Clusters() {
				requests = append(requests, row.Desired)
			}
			require.Equal(t, want.requests, requests)
			last := h.Clusters()[len(requests)-1]
			require.Contains(t, h.Query(`SELECT head FROM subscribers WHERE kind = 'github_check' AND NOT left_behind AND cluster_id = $1`, last.ID), e.PR.Head)
			if does == "recreate" {
				require.Equal(t, servicetest.OnGitHub("maya"), last.RequestedBy)
				require.Equal(t, "aaaaaaa was pushed, and the repository's file says recreate", h.Clusters()[0].DesiredWhy.String())
			}
		})
	}
}

func TestAClusterWhoseSuccessorWasRefusedSaysHowToGetAnother(t *testing.T) {
	for name, c := range map[string]struct {
		file     string // with the push
		replaced bool
	}{
		"accepted": {"synchronize: recreate\n", true},
		"refused":  {"synchronize: recreate\nprofiles: [aws-standard]\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			h := newFixture(t)
			h.Labeled("will", label)
			h.File(c.file)
			e := h.Event("synchronize", "will", true, label)
			e.PR.Head = strings.Repeat("a", 40)
			h.Sync(e)
			rows := h.Clusters()
			require.Equal(t, lifecycle.Absent, rows[0].Desired)
			old, err := h.Store.Cluster(t.Context(), rows[0].ID)
			require.NoError(t, err)
			comment := chatops.Comment(old.Card, chatops.Detail{}, chatops.Links{})
			if c.replaced {
				require.Contains(t, comment, "`"+rows[1].Name+"` replaces it and has its own comment.")
				require.Equal(t, rows[1].Name, old.ReplacedBy)
				return
			}
			require.Len(t, rows, 1)
			require.Empty(t, old.ReplacedBy)
			require.Contains(t, comment, "/ocp create aws-minimal-test")
		})
	}
}

func TestAPushLeavesAClusterThatIsAnotherTeamsNow(t *testing.T) {
	h := newFixture(t)
	h.File("synchronize: recreate\n")
	h.Labeled("will", label)
	_, err := h.Store.Pool().Exec(t.Context(), `UPDATE clusters SET team = 'security'`)
	require.NoError(t, err)
	e := h.Event("synchronize", "maya", true, label)
	e.PR.Head = strings.Repeat("a", 40)
	require.Contains(t, h.Sync(e), "is kept as it is: pr41-shop belongs to team security, and this repository to team platform")
	require.Equal(t, lifecycle.Present, h.Only().Desired)
	require.Equal(t, []string{"false"}, h.Query(`SELECT muted::text FROM subscribers WHERE kind = 'github_label'`), "its end still takes the label off")
	require.Equal(t, []string{"destroy.refused"}, h.Query(`SELECT action FROM audit_events WHERE action LIKE '%.refused'`))
}

func TestAPushOfWhoMayNotLeavesTheClusterAsItIs(t *testing.T) {
	h := newFixture(t)
	h.File("synchronize: recreate\n")
	h.Labeled("will", label)
	e := h.Event("synchronize", "rita", true, label)
	e.PR.Head = strings.Repeat("b", 40)
	require.Contains(t, h.Sync(e), "kept as they are: rita pushed and has read permission")
	require.Equal(t, lifecycle.Present, h.Only().Desired)
	require.Empty(t, h.Effects())
}

func TestARecreationThatDiedInBetweenIsTakenUpAgain(t *testing.T) {
	h := newFixture(t)
	h.File("synchronize: recreate\n")
	h.Labeled("will", label)
	e := h.Event("synchronize", "will", true, label)
	e.PR.Head = strings.Repeat("c", 40)
	_, err := h.Store.Destroy(t.Context(), h.Only().ID, clusters.Origin{Actor: servicetest.OnGitHub("will"), Instead: lifecycle.Reason{Code: lifecycle.ReasonPushed, Name: "ccccccc", To: "recreate"}})
	require.NoError(t, err)
	h.Sync(e)
	require.Equal(t, 2, len(h.Clusters()))
	h.Sync(e)
	require.Equal(t, 2, len(h.Clusters()))
}

func TestARecreationAsksForWhatWasAskedFor(t *testing.T) {
	h := opened(t)
	h.File("synchronize: recreate\n")
	h.Comment(1, "will", "/ocp create aws-standard --ttl 7h --region us-east-2")
	e := h.Event("synchronize", "maya", true)
	e.PR.Head = strings.Repeat("b", 40)
	require.Contains(t, h.Sync(e), "accepted aws-standard")
	again := h.Clusters()[1]
	require.Equal(t, "us-east-2", again.Region)
	require.Equal(t, 7*time.Hour, again.TTL)
	e.PR.Head, e.PR.Labels = strings.Repeat("c", 40), []string{"ocp-ttl/3"}
	require.Contains(t, h.Sync(e), "accepted aws-standard")
	require.Equal(t, 3*time.Hour, h.Clusters()[2].TTL, "a label says how long")
}

func TestAHeadThatIsPushedAgainIsAnotherRequest(t *testing.T) {
	h := newFixture(t)
	h.File("synchronize: recreate\n")
	h.Labeled("will", label)
	for i, head := range []string{"b", "c", "b"} {
		e := h.Event("synchronize", "will", true, label)
		e.PR.Head = strings.Repeat(head, 40)
		require.Contains(t, h.Sync(e), "accepted aws-minimal-test")
		require.Equal(t, e.PR.Head, h.Clusters()[i+1].PR.Head)
	}
	require.Equal(t, []string{"true", "true", "true", "false"}, h.Query(`
		SELECT s.muted::text FROM subscribers s JOIN clusters c ON c.id = s.cluster_id WHERE s.kind = 'github_label' ORDER BY c.generation`),
		"the label stands for the newest, and no end of another takes it off")
}

func TestAPushEndsNothingWhileNobodyCanBeAsked(t *testing.T) {
	h := newFixture(t)
	h.File("synchronize: recreate\n")
	h.Labeled("will", label)
	e := h.Event("synchronize", "will", true, label)
	e.PR.Head = strings.Repeat("b", 40)
	h.GitHub.Stands(e.PR)
	h.GitHub.Meanwhile = func() { h.GitHub.Down.Store(true) }
	_, err := h.Service.SyncPullRequest(t.Context(), e)
	require.ErrorIs(t, err, errDown)
	require.Equal(t, lifecycle.Present, h.Only().Desired)
}

func TestAPullRequestsOwnFileIsCheckedWhereItIsAnother(t *testing.T) {
	head := strings.Repeat("d", 40)
	for name, c := range map[string]struct {
		files   map[string]string
		removes bool
		checks  []string
	}{
		"changed":               {map[string]string{"main": "ttl: 1h\n", head: "ttl: 2h\n"}, false, []string{"check_config " + head}},
		"new":                   {map[string]string{head: "ttl: 2h\n"}, false, []string{"check_config " + head}},
		"the same":              {map[string]string{"main": "ttl: 1h\n", head: "ttl: 1h\n"}, false, nil},
		"removed":               {map[string]string{"main": "ttl: 1h\n"}, true, []string{"check_config " + head}},
		"younger than the head": {map[string]string{"main": "ttl: 1h\n"}, false, nil},
		"none":                  {nil, false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			h := newFixture(t)
			h.GitHub.Files, h.GitHub.Removes = c.files, c.removes
			e := h.Event("synchronize", "will", true)
			e.PR.Head = head
			h.Sync(e)
			h.Sync(e)
			require.ElementsMatch(t, c.checks, h.Effects())
		})
	}
}

func TestAPushIsAUseOfWhatSleepsOutsideWorkingHours(t *testing.T) {
	for name, c := range map[string]struct {
		file  string
		actor string
		used  string
	}{
		"without a file":               {"", "will", "a push to its pull request"},
		"the file keeps clusters":      {"synchronize: keep\n", "will", "a push to its pull request"},
		"the file refreshes clusters":  {"synchronize: refresh\n", "will", "a push to its pull request"},
		"the file is wrong":            {"synchronise: keep\n", "will", "a push to its pull request"},
		"by somebody who may only see": {"", "rita", ""},
	} {
		t.Run(name, func(t *testing.T) {
			h := ready(t)
			_, err := h.Store.Pool().Exec(t.Context(), `UPDATE clusters SET off_hours = true`)
			require.NoError(t, err)
			if c.file != "" {
				h.File(c.file)
			}
			e := h.Event("synchronize", c.actor, true)
			e.PR.Head = strings.Repeat("a", 40)
			h.Sync(e)
			require.Equal(t, []string{c.used}, h.Query(`SELECT active_what FROM clusters`))
		})
	}
}

func TestACommandAndTheFileChooseWhetherAClusterSleepsOutsideWorkingHours(t *testing.T) {
	h := withWorkingHours(t)
	h.Comment(1, "will", "/ocp create aws-standard --off-hours")
	require.True(t, h.Only().OffHours)
	h.File("offHours: true\n")
	h.Comment(2, "will", "/ocp create aws-minimal-test")
	require.True(t, h.Clusters()[1].OffHours, "the file says so")
}

func TestAClusterInPlaceOfAnotherKeepsItsChoiceAboutOffHours(t *testing.T) {
	again := map[string]func(*fixture){
		"a comment": func(h *fixture) { h.Destroy(h.Clusters()[0]); h.Comment(2, "maya", "/ocp retry") },
		"a button": func(h *fixture) {
			h.Destroy(h.Clusters()[0])
			h.click("d2", "maya", chatops.ActionRetry, h.Clusters()[0])
		},
		"a push": func(h *fixture) {
			e := h.Event("synchronize", "maya", true)
			e.PR.Head = strings.Repeat("a", 40)
			h.Sync(e)
		},
	}
	for name, request := range again {
		for said, want := range map[string]bool{" --off-hours": true, " --off-hours=false": false} {
			t.Run(name+said, func(t *testing.T) {
				h := withWorkingHours(t)
				h.File(fmt.Sprintf("synchronize: recreate\noffHours: %v\n", !want))
				h.Comment(1, "will", "/ocp create aws-standard"+said)
				request(h)
				require.Len(t, h.Clusters(), 2)
				require.Equal(t, want, h.Clusters()[1].OffHours)
				h.Destroy(h.Clusters()[1])
				h.Comment(3, "maya", "/ocp retry")
				require.Equal(t, want, h.Clusters()[2].OffHours, "the third is like the first")
			})
		}
		t.Run(name+" and no choice", func(t *testing.T) {
			h := withWorkingHours(t)
			h.File("synchronize: recreate\noffHours: true\n")
			h.Comment(1, "will", "/ocp create aws-standard")
			h.File("synchronize: recreate\noffHours: false\n")
			request(h)
			require.Len(t, h.Clusters(), 2)
			require.Equal(t, []bool{true, false}, []bool{h.Clusters()[0].OffHours, h.Clusters()[1].OffHours}, "the file counts as it is now")
		})
	}
}

// withWorkingHours is a fixture whose team says when people work, and whose pull request was opened.
func withWorkingHours(t *testing.T) *fixture {
	h := fixtureWith(t, servicetest.Catalogue(t, map[string]string{
		"teams/platform.yaml": "name: platform\nowner: maya\ncostCenters: [sandbox]\nenvironments: [test]\nworkHours: {timeZone: UTC, hours: [\"Mon-Fri 07:00-19:00\"]}\n",
	}))
	h.Open()
	return h
}

func TestOffHoursWithoutWorkingHoursAreRefusedWhoeverChoseThem(t *testing.T) {
	h := opened(t)
	h.Comment(1, "will", "/ocp create aws-standard --off-hours")
	require.Contains(t, h.Replies()[0], "Neither profile aws-standard nor team platform says when people work. **Next:** Request a cluster without this choice, or")
	h.File("offHours: true\n")
	h.Comment(2, "will", "/ocp create aws-standard")
	require.Contains(t, h.Replies()[1], "take offHours out of .github/ocpctl.yaml on the base branch")
	h.Comment(3, "will", "/ocp create aws-standard --off-hours=false")
	require.False(t, h.Only().OffHours, "the command's choice counts")
}
