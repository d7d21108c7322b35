package inventory

import (
	"cmp"
	"net/http"
	"time"

	"github.com/ocpctl/ocpctl/runner/cloud/ibmcloud/answer"
	"github.com/ocpctl/ocpctl/runner/cloud/pace"
)

const (
	// retries of one call: a scan has time, and an unanswered call makes a whole part incomplete.
	retries        = 7
	defaultBackoff = 20 * time.Second
	// tryTimeout limits how long IBM may take to begin an answer.
	tryTimeout = time.Minute
)

// paced makes every try of a call wait its turn, and counts it.
type paced struct {
	lane *pace.Lane
	next http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (p paced) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := p.lane.Wait(r.Context()); err != nil {
		return nil, err
	}
	response, err := p.next.RoundTrip(r)
	p.lane.Note(err == nil && response.StatusCode == http.StatusTooManyRequests)
	return response, err
}

// newHTTPClient repeats calls in the pace of a service and region.
func (c *Client) newHTTPClient(service, region string) *http.Client {
	web := &http.Client{Transport: paced{c.pace.Lane(region, service), c.web}}
	return answer.Patient(web, retries, cmp.Or(c.cfg.Backoff, defaultBackoff))
}
