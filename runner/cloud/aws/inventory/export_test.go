package inventory

// Rush lifts the limits of single services, for tests that do not wait.
func (c *Client) Rush() { c.pace.most = nil }
