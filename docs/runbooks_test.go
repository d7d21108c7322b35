package docs_test

import (
	"cmp"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/docs"
	"github.com/ocpctl/ocpctl/runner/installer"
)

var update = flag.Bool("update", false, "write the table of the installer's reasons anew")

const failedCreate, destroyBlocked = "runbooks/failed-create.md", "runbooks/destroy-blocked.md"

// classTable is the table of a runbook, as the list of classes has it. What happened stands beside the reason wherever one is shown.
// Reasons with the same owner and the same advice share a row.
func classTable(classes []installer.Class) string {
	whose := map[string]string{"user": "yours"}
	var rows []string
	reasons := map[string][]string{}
	for _, c := range classes {
		owner := cmp.Or(whose[c.Whose], c.Whose)
		if c.Retryable {
			owner += ", again"
		}
		row := fmt.Sprintf("| %s | %s |\n", owner, cell(advice(c)))
		if reasons[row] == nil {
			rows = append(rows, row)
		}
		reasons[row] = append(reasons[row], "`"+c.Reason+"`")
	}
	var b strings.Builder
	for _, row := range rows {
		b.WriteString("| " + strings.Join(reasons[row], ", ") + " " + row)
	}
	return b.String()
}

// advice is what to do, for readers who are the administrators and whose cluster was tried again.
func advice(c installer.Class) string {
	text := strings.TrimPrefix(installer.Refusal{Class: c}.Advice(), "try again later; ")
	text = strings.TrimPrefix(text, "if it happens again, ")
	if order, addressed := strings.CutPrefix(text, "ask an administrator to "); addressed {
		return strings.NewReplacer(", or to ", ", or ", ", and to ", ", and ", " and to ", " and ").Replace(order)
	}
	return text
}

func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "*", `\*`, "<", `\<`).Replace(text)
}

func TestTheRunbooksSayWhatToDoAboutEveryReason(t *testing.T) {
	for page, classes := range map[string][]installer.Class{failedCreate: installer.Classes(), destroyBlocked: installer.RefusalClasses()} {
		t.Run(page, func(t *testing.T) { knowsEveryReason(t, page, classTable(classes)) })
	}
}

func knowsEveryReason(t *testing.T, page, want string) {
	raw, err := os.ReadFile(page)
	require.NoError(t, err)
	const head = "| reason | whose | what to do |\n|---|---|---|\n"
	before, after, found := strings.Cut(string(raw), head)
	require.True(t, found)
	table := after
	if end := strings.Index(after, "\n\n"); end >= 0 {
		table = after[:end+1]
	}
	if *update {
		require.NoError(t, os.WriteFile(page, []byte(before+head+want+strings.TrimPrefix(after, table)), 0o644))
		return
	}
	require.Equal(t, want, table, "the list of classes and the runbook differ; go test ./docs -update writes the table anew")
}

// named are the reasons that stand in the first column of a table, by which links reach them.
func named(t *testing.T) map[string]bool {
	out := map[string]bool{}
	for _, page := range []string{"failed-create.md", "destroy-blocked.md", "access-not-revoked.md", "scan-failing.md", "account-unproven.md"} {
		raw, err := fs.ReadFile(docs.Runbooks(), page)
		require.NoError(t, err)
		for line := range strings.Lines(string(raw)) {
			first, _, row := strings.Cut(strings.TrimPrefix(line, "|"), "|")
			if !row || !strings.HasPrefix(line, "|") {
				continue
			}
			for _, word := range regexp.MustCompile("`([A-Za-z0-9]+)`").FindAllStringSubmatch(first, -1) {
				out[word[1]] = true
			}
		}
	}
	return out
}

func TestEveryReasonARunnerGivesHasItsLineInARunbook(t *testing.T) {
	known, n := named(t), 0
	reason := regexp.MustCompile(`\b(?:Reason|Code): *"([A-Za-z0-9]+)"`)
	err := filepath.WalkDir("../runner", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		raw, err := os.ReadFile(path)
		require.NoError(t, err)
		for _, found := range reason.FindAllStringSubmatch(string(raw), -1) {
			require.True(t, known[found[1]], "%s gives the reason %s, of which no runbook tells", path, found[1])
			n++
		}
		return nil
	})
	require.NoError(t, err)
	require.Greater(t, n, 30)
	raw, err := os.ReadFile("../internal/dispatch/kubernetes/trouble.go")
	require.NoError(t, err)
	codes := regexp.MustCompile(`= "(Runner[A-Za-z]+)"`).FindAllStringSubmatch(string(raw), -1)
	require.Len(t, codes, 13)
	for _, code := range codes {
		require.True(t, known[code[1]], "no runbook tells of the reason %s of a runner's pod", code[1])
	}
	require.True(t, known["lost"], "the server's own reason")
}

func TestTheLinksBetweenRunbooksLeadSomewhere(t *testing.T) {
	pages, err := fs.Glob(docs.Runbooks(), "*.md")
	require.NoError(t, err)
	for _, page := range pages {
		raw, err := fs.ReadFile(docs.Runbooks(), page)
		require.NoError(t, err)
		for _, link := range regexp.MustCompile(`\]\(([^)#]*)(?:#[^)]*)?\)`).FindAllStringSubmatch(string(raw), -1) {
			if link[1] == "" || strings.HasPrefix(link[1], "https://") {
				continue
			}
			_, err := fs.Stat(docs.Runbooks(), link[1])
			require.NoError(t, err, "%s links to %s, and pages carried inside the program reach each other alone", page, link[1])
		}
	}
}
