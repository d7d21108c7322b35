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

	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/chatops/blocks"
	"github.com/ocpctl/ocpctl/store"
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
	presses := func(user string, row store.Row, p blocks.Press) {
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

	const golden = "testdata/answers.txt"
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(golden), 0o755))
		require.NoError(t, os.WriteFile(golden, []byte(page.String()), 0o644))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, string(want), page.String())
}
