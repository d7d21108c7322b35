package devstack

import (
	"context"
	"path/filepath"

	"github.com/ocpctl/ocpctl/internal/devstack/github"
	"github.com/ocpctl/ocpctl/internal/devstack/github/actions"
)

// workflows is what executes the stand-in GitHub's workflows; nil: they are not executed. The actions of this repository are taken
// from its folder, and they find the program ocpctl and the server in their environment.
func (h *Stack) workflows(ctx context.Context) (github.Engine, error) {
	if !h.Workflows {
		return nil, nil
	}
	source, err := filepath.Abs(h.Source)
	if err != nil {
		return nil, err
	}
	return actions.New(ctx, actions.Config{
		Dir: h.path("workflows"), Repositories: map[string]string{"ocpctl/ocpctl": source},
		Env: map[string]string{"OCPCTL_PROGRAM": filepath.Join(h.Bin, "ocpctl"), "OCPCTL_SERVER": h.PrivateURL()},
	})
}
