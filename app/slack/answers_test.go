package slack_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	slackapp "github.com/ocpctl/ocpctl/app/slack"
	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/chatops/blocks"
	"github.com/ocpctl/ocpctl/chatops/blocks/blockstest"
	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/chatops/slack/inbound"
	"github.com/ocpctl/ocpctl/store/clusters"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// What changes from run to run, and what stands for it.
var changing = []struct {
	what *regexp.Regexp
	is   string
}{
	{regexp.MustCompile(`<!date\^\d+\^[^|>]*\|[^>]*>`), "<a time>"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC`), "<a time>"},
	{regexp.MustCompile(`\b(clu|job|apr|hnd|hov|att)_[0-9A-Za-z]{20,}`), "${1}_1"},
	{regexp.MustCompile(`/links/[A-Za-z0-9_-]{40,}`), "/links/handle"},
	{regexp.MustCompile(`somebody-[a-z2-7]{5}`), "somebody-abcde"},
}

// TestTheAnswersAreGolden shows what people read after each command, in the order of a day.
func TestTheAnswersAreGolden(t *testing.T) {
	h := ours(t)
	h.workspace.groups = map[string][]string{"S1": {"UPAY", "UROB"}}
	var page strings.Builder
	say := func(user, does, said string) {
		for _, c := range changing {
			said = c.what.ReplaceAllString(said, c.is)
		}
		fmt.Fprintf(&page, "@%s: %s\n    %s\n\n", user, does, strings.ReplaceAll(strings.TrimRight(said, "\n"), "\n", "\n    "))
	}
	types := func(user string, lines ...string) {
		for _, line := range lines {
			say(user, "/ocp "+line, h.slack("U"+strings.ToUpper(user), line))
		}
	}
	presses := func(user string, row clusters.Row, p blocks.Press) {
		p.Cluster = row.ID
		say(user, "presses "+string(p.Verb), h.press("U"+strings.ToUpper(user), p))
	}
	types("nobody", "create aws-standard", "unlink")
	types("mate", "status", "list", "extend 4h", "create aws-standard --region mars-1 --version 3.11", "create aws-standard --name other --dry-run")
	row := h.mate("demo")
	types("mate", "create aws-minimal-test --name second", "extend 4h", "extend demo 10h", "hold demo 8h", "unhold demo", "unhold demo", "scale demo 2", "scale demo 2", "scale demo 9", "refresh demo")
	types("mate", "retry demo", "logs demo", "kubeconfig demo", "share demo <@UPAY>", "share demo <!subteam^S1>", "unshare demo <@UPAY>", "unshare demo <!subteam^S1>", "unshare demo <@UPAY>")
	types("mate", "transfer demo", "transfer demo --team payments", "transfer demo <@UROB>", "transfer demo <@UMATE>")
	types("mate", "notify ready,failed", "notify", "notify <#C2> ready", "notify ready --off", "notify --off", "notify --off", "approvals", "approve demo", "refuse demo no")
	types("pay", "destroy demo")
	types("audit", "destroy demo", "create aws-standard")
	warning := h.notice(blocks.Expiring, row.ID, blocks.Facts{End: row.DestroyAt})
	extend := extendButton(h.row(row.ID), warning)
	presses("rob", row, extend)
	presses("mate", row, extend)
	presses("mate", row, blocks.Press{Verb: chatops.VerbShare})
	presses("mate", row, blocks.Press{Verb: "explode"})
	types("mate", "extend demo 500h", "extend demo 4h", "explain demo", "destroy demo", "destroy demo", "extend demo 4h", "retry demo", "destory demo")
	h.Release(row)
	types("mate", "destroy demo", "extend demo 4h", "retry demo")

	h.links("UMATE", proved("saml:mate", "ocpctl-team-platform"))
	h.Catalogue.Quotas = nil
	h.mate("keys")
	types("mate", "link", "kubeconfig keys", "unlink")
	types("guest", "status", "link")
	types("other", "status", "link")
	types("left", "status")
	types("bot", "status")
	types("unknown", "status")
	say("anybody", "/ocp status, in another workspace", refused(t, messages.SlackOtherWorkspace))
	say("anybody", "/ocp status, while PostgreSQL does not answer", refused(t, messages.SlackNotStored))
	isGolden(t, "answers.txt", page.String())
}

// refused is the immediate answer to a command that is not stored.
func refused(t *testing.T, why string) string {
	t.Helper()
	answer, shown := slackapp.NotStored(inbound.Request{Kind: inbound.Command}, why)
	require.True(t, shown)
	return answer.(map[string]string)["text"]
}

// isGolden compares a text with its file.
func isGolden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}

// TestTheWindowsAreGolden shows what people see in windows: the forms as the catalogue makes them, and what answers them.
func TestTheWindowsAreGolden(t *testing.T) {
	h := screened(t)
	row := h.mate("demo")
	var page strings.Builder
	shows := func(what string, f *form) {
		text := blockstest.Readable(f.view.Blocks.BlockSet)
		for _, c := range changing {
			text = c.what.ReplaceAllString(text, c.is)
		}
		buttons := "[" + f.view.Close.Text + "]"
		if f.view.Submit != nil {
			buttons += " [" + f.view.Submit.Text + "]"
		}
		fmt.Fprintf(&page, "=== %s\n%s %s\n\n%s\n", what, f.view.Title.Text, buttons, text)
	}
	opens := func(r inbound.Request) *form {
		r.Trigger = r.ID
		h.triggers[r.ID] = true
		h.handle(r)
		return h.open[len(h.open)-1]
	}
	f := opens(h.shortcut("UMATE", "ocp_create"))
	shows("a form is opened", f)
	h.enters(f, "name", "demo")
	h.changes("UMATE", f, "ttl", "500")
	shows("the lifetime is too long, and the name is taken", f)
	h.submits("UMATE", f)
	shows("it is submitted all the same", f)
	h.enters(f, "name", "shop-smoke")
	h.enters(f, "ttl", "12")
	h.submits("UMATE", f)
	shows("it is corrected and submitted", f)
	shows("my clusters", opens(h.shortcut("UMATE", "ocp_clusters")))
	share := opens(h.pressOf("UMATE", blocks.Press{Verb: chatops.VerbShare, Cluster: row.ID}))
	shows("sharing a cluster", share)
	h.enters(share, "person", "UGUEST")
	h.submits("UMATE", share)
	shows("sharing it with a guest", share)
	shows("handing a cluster over", opens(h.pressOf("UMATE", blocks.Press{Verb: chatops.VerbTransfer, Cluster: row.ID})))
	shows("a form for somebody who may create nothing", opens(h.shortcut("UAUDIT", "ocp_create")))
	shows("a form for a guest", opens(h.shortcut("UGUEST", "ocp_create")))
	isGolden(t, "windows.txt", page.String())
}
