package profiles

import (
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"regexp"
	"slices"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestEveryProblemOfEveryFileIsToldAtOnce(t *testing.T) {
	_, err := Load(os.DirFS("testdata/broken"))
	var problems Problems
	require.ErrorAs(t, err, &problems)
	golden(t, "broken-catalogue.txt", err.Error()+"\n")
}

func TestTheEmbeddedCatalogueIsWhatItWas(t *testing.T) {
	c := catalogue(t)
	golden(t, "embedded.json", shown(t, c))
	require.Empty(t, c.Teams, "any name is a team until some are declared")
	require.Empty(t, c.Policies)
}

func TestTheExampleCatalogueIsRead(t *testing.T) {
	c, err := Load(os.DirFS("testdata/example"))
	require.NoError(t, err)
	golden(t, "example.json", shown(t, c))
	platform, known, declared := c.Team("platform")
	require.True(t, known && declared)
	require.Equal(t, Team{
		Name: "platform", DisplayName: "Platform engineering", Owner: "maya", CostCenters: []string{"sandbox", "cc-1042"},
		Environments: []string{"test", "dev"}, Weight: 2, Budget: Budget{MonthlyCents: 500_000, WarnPercent: 75, Hard: true},
	}, platform)
	shop, _, _ := c.Team("shop")
	require.Equal(t, Budget{MonthlyCents: 80_000, WarnPercent: 80}, shop.Budget)
	require.Equal(t, 1, shop.Weight)
	require.Equal(t, "shop", shop.DisplayName)
	_, known, declared = c.Team("other")
	require.True(t, !known && declared)
}

// shown is everything of a catalogue but its profiles, of which it names the bounds that goldens elsewhere do not hold.
func shown(t *testing.T, c Catalogue) string {
	t.Helper()
	type bounds struct {
		WhenFull           string
		Nodes, Least, Most int
	}
	named := map[string]bounds{}
	for _, p := range c.All() {
		named[p.Name] = bounds{p.WhenFull, p.Nodes(), p.Workers.Least, p.Workers.Most}
	}
	c.Hash = ""
	out, err := json.MarshalIndent(map[string]any{"catalogue": c, "profiles": named}, "", "  ")
	require.NoError(t, err)
	return string(out) + "\n"
}

func TestWhatIsNotSaidOfAProfileIsItsDefault(t *testing.T) {
	mint := get(t, "aws-minimal-mint")
	require.Equal(t, WhenFullRefuse, mint.WhenFull)
	require.Equal(t, Workers{Replicas: 0, InstanceType: "m6i.xlarge"}, mint.Workers)
}

// embeddedFiles is the embedded catalogue to be changed at will.
func embeddedFiles(t *testing.T) fstest.MapFS {
	t.Helper()
	out := fstest.MapFS{}
	require.NoError(t, fs.WalkDir(EmbeddedFiles(), ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			body, _ := fs.ReadFile(EmbeddedFiles(), path)
			out[path] = &fstest.MapFile{Data: body}
		}
		return err
	}))
	return out
}

func TestTheHashIsOfEveryFileThatIsReadAndOfNoOther(t *testing.T) {
	hash := func(files fs.FS) string {
		t.Helper()
		c, err := Load(files)
		require.NoError(t, err)
		alone, err := Hash(files)
		require.NoError(t, err)
		require.Equal(t, alone, c.Hash)
		return c.Hash
	}
	files := embeddedFiles(t)
	first := hash(files)
	require.Regexp(t, `^[0-9a-f]{12}$`, first)
	files["README.md"] = &fstest.MapFile{Data: []byte("for people")}
	files["profiles/README.md"] = files["README.md"]
	files[".github/workflows/ci.yaml"] = files["README.md"]
	files["quotas/.quotas.yaml.swp.yaml"] = files["README.md"]
	require.Equal(t, first, hash(files))

	seen := map[string]bool{first: true}
	for _, path := range slices.Sorted(maps.Keys(embeddedFiles(t))) {
		changed := embeddedFiles(t)
		changed[path] = &fstest.MapFile{Data: append(slices.Clone(changed[path].Data), "# a word more\n"...)}
		require.False(t, seen[hash(changed)], path)
		seen[hash(changed)] = true
	}
	renamed := embeddedFiles(t)
	renamed["quotas/other.yaml"] = renamed["quotas/quotas.yaml"]
	delete(renamed, "quotas/quotas.yaml")
	require.False(t, seen[hash(renamed)])
}

func TestWhatCouldBeReadIsThereBesideTheProblems(t *testing.T) {
	c, problems, err := Read(os.DirFS("testdata/broken"))
	require.NoError(t, err)
	require.NotEmpty(t, problems)
	require.Equal(t, []string{"aws-minimal-test"}, c.Names())
	require.Len(t, c.Quotas, 0)
	require.NotEmpty(t, c.Hash)
}

func TestAFileThatIsNoneIsAnError(t *testing.T) {
	files := embeddedFiles(t)
	files["teams/big.yaml"] = &fstest.MapFile{Data: make([]byte, mostBytes+1)}
	_, err := Load(files)
	require.ErrorContains(t, err, "teams/big.yaml is larger than 1048576 bytes; split it")
	_, err = Load(os.DirFS("testdata/nowhere"))
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = Hash(os.DirFS("testdata/nowhere"))
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = Load(fstest.MapFS{"profiles": {Data: []byte("a file")}})
	require.Error(t, err)
}

func TestRulesKeepWhereTheyStand(t *testing.T) {
	c, err := Load(os.DirFS("testdata/example"))
	require.NoError(t, err)
	p := c.Policies[1]
	require.Equal(t, "policies/standard.yaml", p.File)
	require.Equal(t, 1, p.Line)
	require.Equal(t, []int{4, 8}, []int{p.Rules[0].Line, p.Rules[1].Line})
	require.Equal(t, map[string]string{"ttlHours": "8", "region": "us-east-2"}, p.Rules[0].Set)
	require.Equal(t, ApprovalTerms{Count: 2, By: "requester", For: 12 * time.Hour}, p.Rules[1].Approval)
	require.Equal(t, []string{"pr_label", "pr_comment"}, c.Policies[0].Sources)
}

func TestEveryFieldIsExplainedInTheGuide(t *testing.T) {
	page, err := os.ReadFile("../docs/catalogue.md")
	require.NoError(t, err)
	r := &reader{lines: map[string]int{}}
	for kind, fields := range map[string][]field{
		"profile": profileFields(r, new(Profile)), "team": teamFields(r, new(Team)), "quota": quotaFields(r, new(Quota)),
		"policy": policyFields(r, new(Policy)), "rule": ruleFields(r, new(Rule)), "identity": identityFields(r, new(Identity)),
		"add-on": addonFields(r, new(Addon), new([]any)), "pool": poolFields(r, new(Pool)), "wait": waitFields(new(AddonWait)),
	} {
		for _, f := range fields {
			explained := regexp.MustCompile("\\| [^|]*`([a-z]+(\\[\\])?\\.)?" + f.name + "[\\[\\].a-zA-Z]*`[^|]* \\|").Match(page)
			require.True(t, explained, "%s of %s stands in no table", f.name, kind)
		}
	}
}
