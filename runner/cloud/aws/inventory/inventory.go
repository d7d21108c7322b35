// Package inventory looks through a whole AWS account for what may belong to a cluster: anybody's cluster, living or forgotten.
//
// It lists and never changes anything. It judges nothing either: whose a resource is and whether it is an orphan is decided by the
// server, so a look-alike is reported like the real thing. It must never take an unanswered query for an empty list, and reads every
// list to its last page, however short or empty the pages before are.
//
// An account is listed in parts, one per service and region (Parts). A resource belongs to exactly one part. What has a tag or a name of
// a cluster is reported (marks.go), and so is what is in a reported VPC or belongs to a reported resource. One file per service.
//
// It shares its lists with count (package kinds), and no query with runner/cloud/aws, which deletes: a leak is a mistake there, and a query of
// the code that deletes would not see it.
package inventory

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/arn"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go/logging"

	"github.com/ocpctl/ocpctl/runner/cloud/parts"
)

// The services by which parts are named: <region>/<service>, or Global/<service>.
const (
	Global = "global"

	partEC2       = "ec2"
	partBalancing = "elasticloadbalancing"
	partTagging   = "tagging"
	partIAM       = "iam"
	partRoute53   = "route53"
	partS3        = "s3"
)

// globalRegion is where the tagging API covers global services.
const globalRegion = "us-east-1"

// pageTimeout limits one page with all its retries, in an account that is being throttled.
const pageTimeout = 5 * time.Minute

// Config says what to look through.
type Config struct {
	HomeRegion     string        // where the account is asked for its regions
	BaseDomains    []string      // records of clusters below them are listed
	CallsPerSecond int           // at most, in each service and region
	Backoff        time.Duration // longest wait between two tries of a call; zero: 20 s
}

// Client lists one account. It is safe for concurrent use.
type Client struct {
	cfg  Config
	aws  awssdk.Config
	pace *paced

	mu      sync.Mutex
	caller  arn.ARN
	regions map[string]*region
}

// region is what is known of a region by several of its parts.
type region struct {
	listing sync.Mutex
	vpcs    map[string]string // ARNs of the reported VPCs, by id; nil: not listed yet
}

// New takes credentials and endpoints from the SDK's default chain, unless options say otherwise. It makes no call yet.
func New(ctx context.Context, cfg Config, options ...func(*config.LoadOptions) error) (*Client, error) {
	if cfg.HomeRegion == "" || cfg.CallsPerSecond < 1 {
		return nil, fmt.Errorf("inventory: the home region is %q and there are %d calls per second; give a region and at least one call", cfg.HomeRegion, cfg.CallsPerSecond)
	}
	p := newPaced(cfg.CallsPerSecond, cfg.Backoff)
	loaded, err := config.LoadDefaultConfig(ctx, append(options, config.WithRegion(cfg.HomeRegion), config.WithRetryer(p.newRetryer),
		config.WithLogger(logging.Nop{}))...) // its warnings about cut connections help nobody
	if err != nil {
		return nil, fmt.Errorf("load AWS configuration: %w", err)
	}
	loaded.APIOptions = append(loaded.APIOptions, p.addTo)
	for i, domain := range cfg.BaseDomains {
		cfg.BaseDomains[i] = strings.TrimSuffix(strings.ToLower(domain), ".")
	}
	return &Client{cfg: cfg, aws: loaded, pace: p, regions: map[string]*region{}}, nil
}

// Account returns the id of the account that our credentials belong to. It must be called before List.
func (c *Client) Account(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, pageTimeout)
	defer cancel()
	out, err := sts.NewFromConfig(c.aws).GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{})
	if err != nil {
		return "", fmt.Errorf("look up the account of the credentials: %w", explainError(err))
	}
	caller, err := arn.Parse(awssdk.ToString(out.Arn))
	if err != nil {
		return "", fmt.Errorf("look up the account of the credentials: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.caller = arn.ARN{Partition: caller.Partition, AccountID: awssdk.ToString(out.Account)}
	return c.caller.AccountID, nil
}

// Regions returns the regions that the account has enabled, sorted.
func (c *Client) Regions(ctx context.Context) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, pageTimeout)
	defer cancel()
	// This call has no pages. It names the regions that the account has not opted into only when it is asked for all.
	out, err := c.ec2In(c.cfg.HomeRegion).DescribeRegions(ctx, &ec2.DescribeRegionsInput{AllRegions: awssdk.Bool(true)})
	if err != nil {
		return nil, fmt.Errorf("list the account's regions: %w", explainError(err))
	}
	var enabled []string
	for _, r := range out.Regions {
		if awssdk.ToString(r.OptInStatus) != "not-opted-in" {
			enabled = append(enabled, awssdk.ToString(r.RegionName))
		}
	}
	if len(enabled) == 0 {
		return nil, errors.New("list the account's regions: AWS named none that is enabled")
	}
	slices.Sort(enabled)
	return enabled, nil
}

// Parts returns the names of all parts for the regions. The global services come first, because resources elsewhere depend on none of
// them, and the tagging API is asked in us-east-1 too, where it covers them.
func (c *Client) Parts(regions []string) []string {
	parts := []string{Global + "/" + partIAM, Global + "/" + partRoute53, Global + "/" + partS3}
	for _, r := range regions {
		parts = append(parts, r+"/"+partEC2, r+"/"+partBalancing, r+"/"+partTagging)
	}
	if !slices.Contains(regions, globalRegion) {
		parts = append(parts, globalRegion+"/"+partTagging)
	}
	return parts
}

// Emit takes what one page showed. An error of it ends the listing.
type Emit = parts.Emit

// List lists one part, page by page. An error means that the part is incomplete: what was emitted is there, what was not may be there
// too. Several lists that were refused are all in the error.
func (c *Client) List(ctx context.Context, part string, emit Emit) error {
	where, service, _ := strings.Cut(part, "/")
	if c.accountID() == "" {
		return errors.New("list a part: the account is not known yet")
	}
	emit = parts.To(emit)
	switch {
	case where == Global && service == partIAM:
		return c.listIAM(ctx, emit)
	case where == Global && service == partRoute53:
		return c.listRoute53(ctx, emit)
	case where == Global && service == partS3:
		return c.listBuckets(ctx, emit)
	case service == partEC2:
		return c.listEC2(ctx, where, emit)
	case service == partBalancing:
		return c.listBalancing(ctx, where, emit)
	case service == partTagging:
		return c.listTagged(ctx, where, emit)
	}
	return fmt.Errorf("list %s: this runner knows no such part", part)
}

// Calls returns how many calls were made so far, by service as in a part's name; retries count.
func (c *Client) Calls() map[string]int { return c.pace.Calls() }

// CallsOf returns how many calls were made so far in a service and region.
func (c *Client) CallsOf(part string) int { return c.pace.callsOf(part) }

// Slowed returns how many calls AWS throttled.
func (c *Client) Slowed() int { return c.pace.Slowed() }

func (c *Client) accountID() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.caller.AccountID
}

// arnOf returns the ARN of a resource of this account in a region, in the form in which the tagging API gives it.
func (c *Client) arnOf(service, region, resource string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return arn.ARN{Partition: c.caller.Partition, Service: service, Region: region, AccountID: c.caller.AccountID, Resource: resource}.String()
}

// globalARN returns the ARN of a zone or a bucket, which names neither region nor account.
func (c *Client) globalARN(service, resource string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return arn.ARN{Partition: c.caller.Partition, Service: service, Resource: resource}.String()
}

func (c *Client) ec2In(region string) *ec2.Client {
	return ec2.NewFromConfig(c.aws, func(o *ec2.Options) { o.Region = region })
}

// listsOf are the lists of one part.
func listsOf(ctx context.Context) *parts.Lists { return parts.New(ctx, isAnswer, explainError) }
