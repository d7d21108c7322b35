package aws

import (
	"context"

	"github.com/ocpctl/ocpctl/runner/cloud"
	"github.com/ocpctl/ocpctl/runner/contract"
)

// Quotas measures, for each limit an install of the plan touches, the limit, the live usage and the need.
func (c *Client) Quotas(context.Context, cloud.Target, cloud.Plan) ([]contract.Quota, error) {
	return nil, nil
}
