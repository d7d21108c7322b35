package rules

import (
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
)

// page is docs/policy.md.
func page(t *testing.T) string {
	t.Helper()
	body, err := os.ReadFile("../../docs/policy.md")
	require.NoError(t, err)
	return string(body)
}

func TestThePageNamesEveryVariableAndFieldAndNoOther(t *testing.T) {
	for name, of := range variables {
		row := regexp.MustCompile("(?m)^\\| `" + name + "` \\| (.*) \\|$").FindStringSubmatch(page(t))
		require.NotNil(t, row, name)
		var got []string
		for _, field := range regexp.MustCompile("`([A-Za-z_]+)`").FindAllStringSubmatch(row[1], -1) {
			got = append(got, field[1])
		}
		want := fieldsOf(of)
		if name == "usage" {
			want = append(want, fieldsOf(variables["usage"].Field(0).Type)...)
		}
		if name == "now" {
			want = nil
		}
		require.ElementsMatch(t, want, got, name)
	}
}

func TestThePagesBoundsAreTheOnesThatHold(t *testing.T) {
	for _, bound := range []string{fmt.Sprint(mostText), fmt.Sprint(mostNodes), fmt.Sprint(mostDepth), fmt.Sprint(mostRegexp), "10,000", "1 s"} {
		require.Contains(t, page(t), "| "+bound+" |")
	}
	require.Equal(t, 10_000, mostCost)
	require.Equal(t, time.Second, mostWait)
}

func TestThePagesExampleIsInForce(t *testing.T) {
	_, example, found := strings.Cut(page(t), "```yaml\n# policies/acme.yaml\n")
	require.True(t, found)
	example, _, _ = strings.Cut(example, "```")
	files := fstest.MapFS{"policies/acme.yaml": {Data: []byte(example)}}
	require.NoError(t, fs.WalkDir(profiles.EmbeddedFiles(), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		body, err := fs.ReadFile(profiles.EmbeddedFiles(), path)
		files[path] = &fstest.MapFile{Data: body}
		return err
	}))
	c, err := profiles.Load(files)
	require.NoError(t, err)
	set, problems := Compile(c.Policies)
	require.Empty(t, problems)
	require.Equal(t, 6, set.Len())

	in := saturday(t)
	r := in.Request
	r.Profile, r.TTL, r.PR.Fork, r.PR.Association, r.PR.Labels, r.PR.Base = "", 0, false, "MEMBER", []string{"quick"}, "main"
	terms := policy.Terms{Catalogue: c, Rules: set, Now: in.Now}
	v := policy.Evaluate(r, policy.Usage{}, terms, policy.Settings{})
	require.True(t, v.Allowed, "%v", v.Refusals())
	require.Equal(t, "aws-minimal-test", v.Grant.Profile)
	require.Equal(t, 8*time.Hour, v.Grant.TTL)
	require.Nil(t, v.Approval, "eight hours at night are nobody's matter")
	require.Len(t, v.Warnings(), 1)

	r.TTL = 13 * time.Hour
	v = policy.Evaluate(r, policy.Usage{}, terms, policy.Settings{})
	require.Equal(t, &policy.Approval{Count: 1, By: policy.Requester, For: 12 * time.Hour, Why: []string{"A cluster requested at night for more than twelve hours needs an approval."}}, v.Approval)
	r.PR.Base = "release-4"
	require.Equal(t, "Release branches are tested on the large profile.", policy.Evaluate(r, policy.Usage{}, terms, policy.Settings{}).Refusals()[0].Message)
}
