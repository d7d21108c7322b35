package inventory

import "github.com/ocpctl/ocpctl/runner/cloud/pace"

// Rush lifts the limits of single services, for tests that do not wait.
func (c *Client) Rush() { c.pace.Pace = pace.New(c.cfg.CallsPerSecond, nil) }
