package kubernetes

import (
	"context"

	"github.com/ocpctl/ocpctl/devstack/tool"
)

var program = tool.Tool{
	Name: "kubernetes", Module: "tools/kubernetes", Make: "build-kubernetes", Long: "the first build takes about ten minutes",
}

// Program returns the path of the program kubernetes. The first build takes about ten minutes, and says on standard error that it goes
// on.
func Program(ctx context.Context) (string, error) { return program.Path(ctx) }
