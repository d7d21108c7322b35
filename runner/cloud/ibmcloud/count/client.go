package count

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/IBM/go-sdk-core/v5/core"

	"github.com/ocpctl/ocpctl/runner/cloud"
	"github.com/ocpctl/ocpctl/runner/cloud/ibmcloud/access"
	"github.com/ocpctl/ocpctl/runner/cloud/ibmcloud/answer"
	"github.com/ocpctl/ocpctl/runner/cloud/ibmcloud/kinds"
)

const (
	// global is the region in the record of a query that no region answers.
	global = kinds.Global
	// callTimeout limits one query with all its pages and retries.
	callTimeout = time.Minute
	// parallel is how many queries are made at once.
	parallel = 6
	// retries of one request and the longest wait between two.
	retries    = 5
	maxBackoff = 4 * time.Second
)

// Config is what a Client is made from.
type Config struct {
	Authenticator core.Authenticator
	URLs          access.URLs
	HTTP          *http.Client  // nil: one of its own
	MaxBackoff    time.Duration // longest wait between two tries of a request; zero: 4 s
	Now           func() time.Time
}

// Client counts in the regions of a cluster and in the global services. It is safe for concurrent use.
type Client struct {
	cfg Config
	api kinds.API
}

// New makes no call yet.
func New(cfg Config) *Client {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	web := answer.Patient(cfg.HTTP, retries, cmp.Or(cfg.MaxBackoff, maxBackoff))
	return &Client{cfg: cfg, api: kinds.API{Authenticator: cfg.Authenticator, URLs: cfg.URLs, HTTP: func(string, string) *http.Client { return web }}}
}

// lookUpCaller returns the id of the account that our token is for, and our IAM id.
func (c *Client) lookUpCaller() (account, iamID string, err error) {
	if c.cfg.Authenticator == nil {
		return "", "", errors.New("there are no credentials for IBM Cloud")
	}
	account, iamID, err = answer.Caller(c.cfg.Authenticator)
	switch {
	case err != nil && answer.RefusesCredentials(err):
		return "", "", fmt.Errorf("%w: %w", cloud.ErrCredentials, err)
	case err != nil:
		return "", "", fmt.Errorf("get a token: %w", err)
	}
	return account, iamID, nil
}
