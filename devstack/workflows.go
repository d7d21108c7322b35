package devstack

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/ocpctl/ocpctl/devstack/github"
	"github.com/ocpctl/ocpctl/devstack/github/actions"
	"github.com/ocpctl/ocpctl/devstack/must"
)

// workflows is what executes the stand-in GitHub's workflows; nil: they are not executed. The actions of this repository find the program
// ocpctl and the server in their environment.
func (h *Stack) workflows() (github.Engine, error) {
	if !h.Workflows {
		return nil, nil
	}
	own, err := h.ownActions()
	if err != nil {
		return nil, fmt.Errorf("copy this repository's actions: %w", err)
	}
	return actions.New(actions.Config{
		Dir: h.path("workflows"), Repositories: map[string]string{"ocpctl/ocpctl": own},
		Env: map[string]string{"OCPCTL_PROGRAM": filepath.Join(h.Bin, "ocpctl"), "OCPCTL_SERVER": h.PrivateURL()},
	})
}

// ownActions copies what workflows use of this repository: each job gets a copy of the whole folder.
func (h *Stack) ownActions() (_ string, err error) {
	defer must.Catch(&err)
	to := h.path("workflows", "ocpctl")
	must.Do(os.RemoveAll(to))
	for _, part := range []string{"workflows", ".github/workflows"} {
		must.Do(os.CopyFS(filepath.Join(to, part), os.DirFS(filepath.Join(h.Source, part))))
	}
	return to, nil
}
