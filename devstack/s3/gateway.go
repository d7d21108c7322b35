package s3

import (
	"context"

	"github.com/ocpctl/ocpctl/devstack/tool"
)

var gateway = tool.Tool{Name: "s3gateway", Module: "tools/s3gateway", Make: "build"}

// Gateway returns the path of the program s3gateway.
func Gateway(ctx context.Context) (string, error) { return gateway.Path(ctx) }
