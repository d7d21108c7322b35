package ibmcloud

import (
	"time"

	"github.com/ocpctl/ocpctl/runner/cloud"
)

// NewHurried is New with waits that suit a stand-in.
func NewHurried(region string, keys cloud.Keys, env func(string) string, settle time.Duration) (*Client, error) {
	return newClient(region, keys, env, pace{retry: time.Millisecond, poll: time.Millisecond, settle: settle})
}
