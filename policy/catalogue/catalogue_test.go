package catalogue

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/profiles"
)

// embedded is the built-in catalogue to be changed at will.
func embedded(t *testing.T) fstest.MapFS {
	t.Helper()
	out := fstest.MapFS{}
	require.NoError(t, fs.WalkDir(profiles.EmbeddedFiles(), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		body, err := fs.ReadFile(profiles.EmbeddedFiles(), path)
		out[path] = &fstest.MapFile{Data: body}
		return err
	}))
	return out
}

// folder writes files into a new folder.
func folder(t *testing.T, files fstest.MapFS) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, files))
	return dir
}

func write(t *testing.T, dir, file, body string) {
	t.Helper()
	path := filepath.Join(dir, file)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(body), 0o644))
}

const (
	quotas = "quotas/quotas.yaml"
	tight  = "quotas:\n  - {name: team, scope: team, live: 2}\n"
	broken = "quotas:\n  - {name: team, scope: squad, live: 0}\n"
)

func TestTheEmbeddedCatalogueIsSound(t *testing.T) {
	b, err := Embedded()
	require.NoError(t, err)
	require.Len(t, b.Hash, 12)
	require.NotNil(t, b.Rules)
	now := time.Date(2025, 3, 1, 12, 0, 0, 0, time.UTC)
	require.Equal(t, now, b.Terms(now).Now)
	require.Equal(t, b.Hash, b.Terms(now).Catalogue.Hash)
}

func TestTheExamplesRulesCompile(t *testing.T) {
	b, err := Read(Config{Dir: "../../profiles/testdata/example"})
	require.NoError(t, err)
	require.Len(t, b.Policies, 2)
	_, err = Read(Config{Dir: "../../profiles/testdata/nowhere"})
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestAPlatformThatIsNotOfferedStaysOffThroughEveryReload(t *testing.T) {
	off := map[string]string{"ibmcloud": "IBM Cloud is off"}
	check := func(b Catalogue) {
		t.Helper()
		p, known := b.Get("ibm-standard")
		require.True(t, known)
		require.False(t, p.Enabled)
		require.Equal(t, "IBM Cloud is off", p.DisabledReason)
		p, _ = b.Get("aws-standard")
		require.True(t, p.Enabled)
	}
	dir := folder(t, embedded(t))
	once, err := Read(Config{Dir: dir, Off: off})
	require.NoError(t, err)
	check(once)
	live, err := Open(Config{Dir: dir, Off: off})
	require.NoError(t, err)
	check(live.Current())
	write(t, dir, quotas, tight)
	changed, err := live.Reload()
	require.NoError(t, err)
	require.True(t, changed)
	check(live.Current())
	require.Equal(t, live.Status().Hash, live.Current().Hash)
}

// example is a block of a page that is a file: its first line is a comment with the file's path.
var example = regexp.MustCompile("(?s)```yaml\n# ([a-z]+/[-a-z]+\\.yaml)\n(.*?)```")

func TestTheExamplesOfTheGuideAreOneCatalogue(t *testing.T) {
	files := fstest.MapFS{}
	require.Equal(t, 5, addExamples(t, files, "catalogue.md"))
	_, err := Load(files)
	require.NoError(t, err)
	files = embedded(t)
	require.Equal(t, 1, addExamples(t, files, "pools.md"))
	_, err = Load(files)
	require.NoError(t, err)
}

// addExamples adds the files that a page shows, and returns how many.
func addExamples(t *testing.T, files fstest.MapFS, name string) (n int) {
	page, err := os.ReadFile("../../docs/" + name)
	require.NoError(t, err)
	for _, block := range example.FindAllStringSubmatch(string(page), -1) {
		files[block[1]] = &fstest.MapFile{Data: []byte(block[2])}
		n++
	}
	return n
}

func TestEveryProblemOfFilesAndRulesIsToldAtOnce(t *testing.T) {
	all := embedded(t)
	all[quotas] = &fstest.MapFile{Data: []byte(broken)}
	all["policies/short.yaml"] = &fstest.MapFile{Data: []byte(`name: short
rules:
  - {name: ttl, when: "request.ttlHours >", effect: deny, message: "too long"}
  - {name: typo, when: "reqest.ttlHours > 4", effect: deny, message: "too long"}
`)}
	_, err := Load(all)
	var problems profiles.Problems
	require.ErrorAs(t, err, &problems)
	for _, want := range []string{"policies/short.yaml:3: ", "policies/short.yaml:4: ", quotas + ":2: quotas[0].scope", quotas + ":2: quotas[0].live"} {
		require.ErrorContains(t, err, want)
	}
}
