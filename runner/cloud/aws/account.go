// Package aws asks AWS about one cluster: preflight, verification, and the few deletions the installer leaves to us.
//
// It must never report an unanswered question as an empty answer, and must never delete anything but by exact name.
// Addresses and credentials come from the SDK's default chain alone.
package aws

import (
	"context"

	"github.com/ocpctl/ocpctl/runner/cloud"
	"github.com/ocpctl/ocpctl/runner/contract"
)

// Client asks one region and the global services.
type Client struct{ region string }

// New loads the default credentials chain for a region.
func New(ctx context.Context, region string) (*Client, error) { return &Client{region: region}, nil }

// Account returns the account id of our credentials.
func (c *Client) Account(ctx context.Context) (string, error) { return "", nil }

// Preflight reports what stands in the way of an install.
func (c *Client) Preflight(ctx context.Context, t cloud.Target, zones, instanceTypes []string) ([]cloud.Problem, error) {
	return nil, nil
}

// Verify counts what is left of a cluster, in one pass.
func (c *Client) Verify(ctx context.Context, t cloud.Target) contract.Pass { return contract.Pass{} }

// Rebuild writes metadata.json anew from what was recorded and what the cloud's tags say.
func (c *Client) Rebuild(ctx context.Context, id contract.Identity, t cloud.Target) ([]byte, error) {
	return nil, nil
}

// Sweep deletes, by exact name, what the installer's destroy leaves behind.
func (c *Client) Sweep(ctx context.Context, t cloud.Target) ([]string, error) { return nil, nil }
