// Package inventory looks through a whole account of IBM Cloud for what may belong to a cluster: anybody's cluster, living or forgotten.
//
// It lists and never changes anything. It judges nothing either: whose a resource is and whether it is an orphan is decided by the server,
// so a look-alike is reported like the real thing. It must never take an unanswered query for an empty list, and reads every list to its
// last page.
//
// An account is listed in parts, one per service, and one per region for VPCs (Parts). A resource belongs to exactly one part. What has a
// tag or a name of a cluster is reported (marks.go), and so is what is in a reported VPC or resource group, or belongs to a reported
// resource. Few lists contain tags: those of everything come from Global Search (groups.go).
//
// It shares its lists with count (package kinds), and no query with runner/cloud/ibmcloud, which deletes: a leak is a mistake there, and a
// query of the code that deletes would not see it.
package inventory

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/IBM/go-sdk-core/v5/core"
	"github.com/IBM/vpc-go-sdk/vpcv1"

	"github.com/ocpctl/ocpctl/runner/cloud"
	"github.com/ocpctl/ocpctl/runner/cloud/ibmcloud/access"
	"github.com/ocpctl/ocpctl/runner/cloud/ibmcloud/answer"
	"github.com/ocpctl/ocpctl/runner/cloud/ibmcloud/kinds"
	"github.com/ocpctl/ocpctl/runner/cloud/pace"
	"github.com/ocpctl/ocpctl/runner/cloud/parts"
)

// Global is the region of parts of global services. Parts are named <region>/vpc, or Global/<service>.
const Global = kinds.Global

// Config says what to look through.
type Config struct {
	Authenticator  core.Authenticator
	URLs           access.URLs
	HomeRegion     string        // where the account is asked for its regions
	BaseDomains    []string      // records of clusters below them are listed
	CallsPerSecond int           // at most, in each service and region
	Backoff        time.Duration // longest wait between two tries of a call; zero: 20 s
}

// Client lists one account. It is safe for concurrent use.
type Client struct {
	cfg  Config
	api  kinds.API
	pace *pace.Pace
	web  http.RoundTripper

	mu        sync.Mutex
	account   string
	allGroups once[groups]
	allTags   once[index]
	vpcs      map[string]*once[vpcs] // by region
}

// New makes no call yet.
func New(cfg Config) (*Client, error) {
	switch {
	case cfg.HomeRegion == "" || cfg.CallsPerSecond < 1:
		return nil, fmt.Errorf("inventory: the home region is %q and there are %d calls per second; give a region and at least one call", cfg.HomeRegion, cfg.CallsPerSecond)
	case cfg.Authenticator == nil:
		return nil, fmt.Errorf("inventory: %w: there are none for IBM Cloud", cloud.ErrCredentials)
	}
	cfg.BaseDomains = slices.Clone(cfg.BaseDomains)
	for i, domain := range cfg.BaseDomains {
		cfg.BaseDomains[i] = strings.TrimSuffix(strings.ToLower(domain), ".")
	}
	web := http.DefaultTransport.(*http.Transport).Clone()
	web.ResponseHeaderTimeout = tryTimeout
	c := &Client{cfg: cfg, pace: pace.New(cfg.CallsPerSecond, nil), web: web, vpcs: map[string]*once[vpcs]{}}
	c.api = kinds.API{Authenticator: cfg.Authenticator, URLs: cfg.URLs, HTTP: c.newHTTPClient}
	return c, nil
}

// Account returns the id of the account that our credentials belong to. It must be called before List.
func (c *Client) Account(context.Context) (string, error) {
	account, _, err := answer.Caller(c.cfg.Authenticator)
	switch {
	case err != nil && answer.RefusesCredentials(err):
		return "", fmt.Errorf("look up the account of the credentials: %w: %w", cloud.ErrCredentials, answer.Explain(nil, err))
	case err != nil:
		return "", fmt.Errorf("look up the account of the credentials: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.account = account
	return account, nil
}

// Regions returns the regions that VPCs can be in, sorted. IBM knows no regions that an account has to enable.
func (c *Client) Regions(ctx context.Context) ([]string, error) {
	api, err := c.api.VPC(c.cfg.HomeRegion)
	if err != nil {
		return nil, fmt.Errorf("list the regions: %w", err)
	}
	list, response, err := api.ListRegionsWithContext(ctx, &vpcv1.ListRegionsOptions{}) // this call has no pages
	if err != nil {
		return nil, fmt.Errorf("list the regions: %w", explainError(failed{"ListRegions", answer.Explain(response, err)}))
	}
	var all []string
	if list != nil {
		for _, r := range list.Regions {
			all = append(all, answer.Text(r.Name))
		}
	}
	if len(all) == 0 {
		return nil, errors.New("list the regions: IBM Cloud named none")
	}
	slices.Sort(all)
	return all, nil
}

// Parts returns the names of all parts for the regions. What others are in comes first.
func (c *Client) Parts(regions []string) []string {
	parts := []string{}
	for _, service := range []string{kinds.ServiceGroups, kinds.ServiceIAM, kinds.ServiceInstances, kinds.ServiceCIS, kinds.ServiceDNS, kinds.ServiceTags} {
		parts = append(parts, Global+"/"+service)
	}
	for _, r := range regions {
		parts = append(parts, r+"/"+kinds.ServiceVPC)
	}
	return append(parts, Global+"/"+kinds.ServiceSearch)
}

// List lists one part, page by page. An error means that the part is incomplete: what was emitted is there, what was not may be there
// too. Several lists that were refused are all in the error.
func (c *Client) List(ctx context.Context, part string, emit parts.Emit) error {
	where, service, _ := strings.Cut(part, "/")
	account := c.accountID()
	if account == "" {
		return errors.New("list a part: the account is not known yet")
	}
	tags, err := c.allTags.getOnce(func() (index, error) { return c.findTags(ctx, account) })
	if err != nil {
		return explainError(failed{"Search", err}) // without its tags, a resource would seem to be somebody else's
	}
	known, err := c.allGroups.getOnce(func() (groups, error) { return c.findGroups(ctx, account, tags) })
	if err != nil {
		return explainError(failed{"ListResourceGroups", err})
	}
	p := &listing{
		Client: c, account: account, region: where, index: tags, groups: known, seen: map[string]bool{},
		emit: parts.To(emit), lists: parts.New(ctx, isAnswer, explainError),
	}
	list := map[string]func(){
		kinds.ServiceGroups: p.listGroups, kinds.ServiceIAM: p.listIAM, kinds.ServiceInstances: p.listInstances, kinds.ServiceCIS: p.listCIS, kinds.ServiceDNS: p.listDNS, kinds.ServiceTags: p.listTags, kinds.ServiceSearch: p.listSearch,
	}[service]
	switch {
	case service == kinds.ServiceVPC && where != Global:
		list = p.listVPC
	case where != Global || list == nil:
		return fmt.Errorf("list %s: this runner knows no such part", part)
	}
	list()
	return p.lists.Err()
}

// Calls returns how many calls were made so far, by service as in a part's name; retries count.
func (c *Client) Calls() map[string]int { return c.pace.Calls() }

// CallsOf returns how many calls were made so far in a service and region.
func (c *Client) CallsOf(part string) int {
	region, service, _ := strings.Cut(part, "/")
	return c.pace.CallsIn(region, service)
}

// Slowed returns how many calls IBM Cloud throttled.
func (c *Client) Slowed() int { return c.pace.Slowed() }

func (c *Client) accountID() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.account
}

// once is a value that several parts need and that is looked up once, unless that failed.
type once[T any] struct {
	mu    sync.Mutex
	value T
	known bool
}

func (o *once[T]) getOnce(look func() (T, error)) (T, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.known {
		return o.value, nil
	}
	value, err := look()
	if err == nil {
		o.value, o.known = value, true
	}
	return value, err
}
