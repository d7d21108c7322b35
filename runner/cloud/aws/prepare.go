package aws

import (
	"context"

	"github.com/ocpctl/ocpctl/internal/names"
	"github.com/ocpctl/ocpctl/runner/cloud"
)

// Prepare makes nothing: the installer and ccoctl make everything themselves.
func (c *Client) Prepare(context.Context, cloud.Target, string) (string, error) { return "", nil }

// Detach ends nothing: what is left after AWS's destroyer has an exact name.
func (c *Client) Detach(context.Context, cloud.Target) ([]string, error) { return nil, nil }

// Found finds nothing: AWS's destroyer searches by tags alone.
func (c *Client) Found(context.Context, cloud.Target) (names.Found, error) { return names.Found{}, nil }
