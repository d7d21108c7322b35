package devstack

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/ocpctl/ocpctl/devstack/github"
	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/profiles"
)

//go:embed catalogue
var catalogueFiles embed.FS

// catalogue writes the stack's catalogue: the program's own profiles, add-ons and identities, plus the demo's teams, people, quotas,
// a rule and the identities of programs. People edit an existing folder to see the effect: only the version of
// the real programs is added to it.
func (h *Stack) catalogue() (err error) {
	defer must.Catch(&err)
	dir := h.path("catalogue")
	switch _, err := os.Stat(dir); {
	case err == nil:
		return h.offerRealVersion(dir)
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	ours, product := must.Get(fs.Sub(catalogueFiles, "catalogue")), profiles.EmbeddedFiles()
	if h.Old != "" { // which would refuse fields that are newer than it
		product = os.DirFS(h.Old + "/catalogue")
	}
	half := dir + ".new" // so that an interrupted start leaves no incomplete catalogue
	must.Do(os.RemoveAll(half))
	type kind struct {
		name string
		from fs.FS
	}
	kinds := []kind{
		{"profiles", product}, {"addons", product}, {"identities", product},
		{"identities", ours}, {"people", ours}, {"teams", ours}, {"quotas", ours}, {"policies", ours},
	}
	if h.Scarce {
		kinds = append(kinds, kind{"profiles", ours})
	}
	if h.Pools {
		kinds = append(kinds, kind{"pools", ours})
	}
	if h.Accounts {
		kinds = append(kinds, kind{"accounts", ours})
	}
	if h.Hub != nil {
		hubs := must.Get(fs.Sub(ours, "hubs"))
		kinds = append(kinds, kind{"accounts", hubs}, kind{"profiles", hubs})
	}
	for _, kind := range kinds {
		files := must.Get(fs.Sub(kind.from, kind.name))
		must.Wrap(os.CopyFS(half+"/"+kind.name, files), "write the catalogue's %s", kind.name)
	}
	must.Do(h.nameIssuers(half + "/identities/demo.yaml"))
	if h.Accounts {
		must.Do(h.referToSecrets(half+"/accounts/aws-two.yaml", "", ""))
	}
	if h.Hub != nil {
		must.Do(h.referToSecrets(half+"/accounts/lab.yaml", h.Hub.UID(), h.Hub.URL()))
	}
	must.Do(h.offerRealVersion(half))
	return os.Rename(half, dir)
}

// The folder on GitHub from which the stack's catalogue would come.
const (
	catalogueRepository = github.SecondRepo
	cataloguePath       = "catalogue"
)

// holdCatalogue puts the catalogue's files into their repository on GitHub.
func (h *Stack) holdCatalogue() (err error) {
	defer must.Catch(&err)
	folder, files := os.DirFS(h.path("catalogue")), map[string]string{}
	for _, path := range must.Get(fs.Glob(folder, "*/*.yaml")) {
		files[path] = string(must.Get(fs.ReadFile(folder, path)))
	}
	return h.GitHub.In(catalogueRepository).HoldFiles(cataloguePath, files)
}

// JobIssuer is the issuer of the tokens of the stand-in GitHub's jobs.
func (h *Stack) JobIssuer() string {
	return fmt.Sprintf("http://127.0.0.1:%d/_services/token", h.Ports.GitHub)
}

// referToSecrets writes the folder of this stack's secrets in place of that of a pod, and which hub this stack has.
func (h *Stack) referToSecrets(path, uid, url string) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read the demo's accounts: %w", err)
	}
	named := strings.NewReplacer(secretsInPod, h.runnerConfig().SecretsDir, "HUB-UID", uid, "HUB-URL", url)
	return os.WriteFile(path, []byte(named.Replace(string(raw))), 0o644)
}

// nameIssuers writes the addresses of this stack's issuers in place of those of a demo on the usual ports.
func (h *Stack) nameIssuers(path string) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read the demo's identities: %w", err)
	}
	named := strings.NewReplacer("http://127.0.0.1:8087", fmt.Sprintf("http://127.0.0.1:%d", h.Ports.OIDC), "http://127.0.0.1:8082/_services/token", h.JobIssuer())
	return os.WriteFile(path, []byte(named.Replace(string(raw))), 0o644)
}
