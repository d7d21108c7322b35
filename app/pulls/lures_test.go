package pulls_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/pulls"
	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/devstack/rendered"
	"github.com/ocpctl/ocpctl/devstack/servicetest"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/profiles"
)

// lures are what somebody may write to have others called, or click, by the bot's own comments.
var lures = []string{
	"@acme/everyone", "see #12 and acme/secret#7", "GH-12", "6dcb09b5b57875f334f61aebed695e2e4193db5e", "https://evil.example/login", "www.evil.example", "me@evil.example",
	"<https://evil.example>", "[all is well](https://evil.example)", "![x](https://evil.example/x.png)", "<a href='https://evil.example'>x</a>", "<img src=x>",
	"<!-- ocpctl:cluster:clu_1 -->", "&#64;acme", "` https://evil.example `", "a|https://evil.example|b", "https://evil.example` [x](https://evil.example)",
}

// clean requires that nothing that was said on GitHub so far calls anybody or leads anywhere but to us.
func (h *fixture) clean(about string, bodies ...string) {
	h.Helper()
	own := rendered.Own{Links: []string{"http://127.0.0.1:8080/", "https://console-openshift-console.apps.pr41-shop.labs.example.com", "https://api.pr41-shop.labs.example.com"}, Mentions: []string{"will", "maya"}}
	for _, body := range bodies {
		require.Empty(h, rendered.Calls(body, own), "%s:\n%s", about, body)
	}
}

// quotedFor is a text as one word of a command.
func quotedFor(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}

func TestNoWordsOfACommandPlaceALink(t *testing.T) {
	h := fixtureWith(t, servicetest.Careful(t, profiles.ApprovalTerms{}))
	h.Labeled("will", label)
	servicetest.Ready(t, h.Store, h.Shelf, h.Only())
	id := int64(0)
	for _, lure := range lures {
		word := quotedFor(lure)
		for _, lines := range [][]string{
			{"/ocp hold 1h --reason " + word, "/ocp refuse " + lure, "/ocp share --with " + word, "/ocp extend " + word, "/ocp extend 1h"},
			{"/ocp create --name " + word, "/ocp create aws-standard --region " + word, "/ocp create aws-standard --team " + word, "/ocp create " + word, "/ocp-" + lure},
			{"/ocp status " + word, "/ocp approve " + word, "/ocp " + word, "/ocp scale " + word, "/ocp destroy --reason " + word + " nothing"},
		} {
			id++
			h.Comment(id, "will", strings.Join(lines, "\n"))
		}
	}
	h.clean("replies", h.Replies()...)
	links := chatops.Links{UI: "http://127.0.0.1:8080"}
	card := h.Clusters()[0].Card
	h.clean("comment of a held cluster", chatops.Comment(card, chatops.Detail{}, links))
	for _, lure := range lures {
		card.DesiredWhy, card.Desired, card.Why.Words = lifecycle.Noted("@will: "+lure), lifecycle.Absent, "attempt 1 failed: "+lure
		h.clean("comment of one that goes", chatops.Comment(card, chatops.Detail{Timeline: []chatops.Moment{{At: time.Now(), What: "held", Why: lure}}}, links))
	}
}

func TestNoBranchFileOrLabelPlacesALink(t *testing.T) {
	for _, lure := range lures {
		h := newFixture(t)
		h.GitHub.Files = map[string]string{lure: "profiles: [" + quotedFor(lure) + "]\nttl: " + quotedFor(lure) + "\n" + quotedFor(lure) + ": 1\n"}
		pr := h.PR(true, label, "ocp/"+lure, "ocp-ttl/"+lure)
		pr.Base, pr.HeadRef, pr.Author = lure, lure, lure
		for _, set := range []string{label, "ocp/" + lure, "ocp-ttl/" + lure} {
			pr.UpdatedAt = pr.UpdatedAt.Add(time.Second)
			h.Sync(pulls.PullRequestEvent{PR: pr, Actor: "will", ActorID: servicetest.AccountID("will"), Action: pulls.ActionLabeled, Label: set})
		}
		require.Len(t, h.Replies(), 3)
		h.clean(lure, h.Replies()...)
		run := chatops.ConfigCheck(profiles.RepositoryFilePath, h.Service.FileProblems([]byte(h.GitHub.Files[lure])))
		require.NotEmpty(t, run.Annotations)
		h.clean("the file's check", run.Summary)
	}
}
