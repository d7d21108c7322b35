package ibmcloud

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/IBM/go-sdk-core/v5/core"
	"github.com/IBM/platform-services-go-sdk/globalsearchv2"
	"github.com/IBM/platform-services-go-sdk/globaltaggingv1"
	"github.com/IBM/platform-services-go-sdk/iamidentityv1"
	"github.com/IBM/platform-services-go-sdk/iampolicymanagementv1"
	"github.com/IBM/platform-services-go-sdk/resourcecontrollerv2"
	"github.com/IBM/platform-services-go-sdk/resourcemanagerv2"
	"github.com/IBM/vpc-go-sdk/vpcv1"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/runner/cloud"
	"github.com/ocpctl/ocpctl/runner/cloud/ibmcloud/access"
	"github.com/ocpctl/ocpctl/runner/cloud/ibmcloud/answer"
	"github.com/ocpctl/ocpctl/runner/cloud/ibmcloud/count"
)

const (
	// callTimeout limits one query with all its pages and retries.
	callTimeout = time.Minute
	// checkTimeout limits one check of a preflight, which is several queries.
	checkTimeout = 5 * time.Minute
	// removalTimeout limits one removal; what it did not reach is counted, and deleted by the next one.
	removalTimeout = 20 * time.Minute
)

// Client queries one region and the global services. It is safe for concurrent use.
type Client struct {
	region string
	at     access.URLs
	limits map[string]limit
	auth   access.Authenticator
	web    *http.Client
	pace   pace
	count  *count.Client // only for Verify: nothing else here may use it

	identity   *iamidentityv1.IamIdentityV1
	policies   *iampolicymanagementv1.IamPolicyManagementV1
	controller *resourcecontrollerv2.ResourceControllerV2
	manager    *resourcemanagerv2.ResourceManagerV2
	search     *globalsearchv2.GlobalSearchV2
	tagging    *globaltaggingv1.GlobalTaggingV1

	mu   sync.Mutex
	vpcs map[string]*vpcv1.VpcV1 // by region
}

// pace is how long the client waits.
type pace struct {
	retry  time.Duration // before the second try of a request; it doubles
	poll   time.Duration // at most, between two looks at what is being deleted or made
	settle time.Duration // until one stage of deletions is over
}

// New makes a client for a region. keys is an API key; without one, the pod's trusted profile is used. env returns a variable of the
// environment, as os.Getenv does. It makes no call yet.
func New(_ context.Context, region string, keys cloud.Keys, env func(string) string) (*Client, error) {
	return newClient(region, keys, env, pace{retry: firstWait, poll: 10 * time.Second, settle: 5 * time.Minute})
}

func newClient(region string, keys cloud.Keys, env func(string) string, waits pace) (*Client, error) {
	c := &Client{region: region, at: access.Addresses(env), pace: waits, vpcs: map[string]*vpcv1.VpcV1{}}
	c.web = newHTTPClient(waits.retry)
	var err error
	if c.limits, err = limitsOf(env(limitsVariable)); err != nil {
		return nil, err
	}
	if c.auth, err = access.Authenticate(keys, env, c.web); err != nil {
		return nil, err
	}
	c.count = count.New(count.Config{Authenticator: c.auth, MaxBackoff: min(maxWait, 16*waits.retry), URLs: c.at})
	var errs [6]error
	c.identity, errs[0] = iamidentityv1.NewIamIdentityV1(&iamidentityv1.IamIdentityV1Options{Authenticator: answer.Sealed(c.auth), URL: c.at.IAM})
	c.policies, errs[1] = iampolicymanagementv1.NewIamPolicyManagementV1(&iampolicymanagementv1.IamPolicyManagementV1Options{Authenticator: answer.Sealed(c.auth), URL: c.at.IAM})
	c.controller, errs[2] = resourcecontrollerv2.NewResourceControllerV2(&resourcecontrollerv2.ResourceControllerV2Options{Authenticator: answer.Sealed(c.auth), URL: c.at.ResourceController})
	c.manager, errs[3] = resourcemanagerv2.NewResourceManagerV2(&resourcemanagerv2.ResourceManagerV2Options{Authenticator: answer.Sealed(c.auth), URL: c.at.ResourceManager})
	c.search, errs[4] = globalsearchv2.NewGlobalSearchV2(&globalsearchv2.GlobalSearchV2Options{Authenticator: answer.Sealed(c.auth), URL: c.at.GlobalSearch})
	c.tagging, errs[5] = globaltaggingv1.NewGlobalTaggingV1(&globaltaggingv1.GlobalTaggingV1Options{Authenticator: answer.Sealed(c.auth), URL: c.at.GlobalTagging})
	if err := errors.Join(errs[:]...); err != nil {
		return nil, fmt.Errorf("open IBM Cloud: %w", err)
	}
	for _, service := range []*core.BaseService{c.identity.Service, c.policies.Service, c.controller.Service, c.manager.Service, c.search.Service, c.tagging.Service} {
		service.SetHTTPClient(c.web)
	}
	return c, nil
}

// Account returns the id of the account that our credentials belong to, from the token that they are worth: an API key and a trusted
// profile can be asked in the same way. Credentials that IAM does not accept give cloud.ErrCredentials, expired ones
// cloud.ErrCredentialsExpired.
func (c *Client) Account(ctx context.Context) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	token, err := c.auth.GetToken() // it has the HTTP client's timeout, and knows no context
	if err != nil {
		return "", credentialsError(err)
	}
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return "", errors.New("look up the account of the credentials: IAM's token is no JWT")
	}
	raw, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(parts[1], "="))
	var claims struct {
		Account struct {
			BSS string `json:"bss"`
		} `json:"account"`
	}
	if err != nil || json.Unmarshal(raw, &claims) != nil || claims.Account.BSS == "" {
		return "", errors.New("look up the account of the credentials: IAM's token names no account")
	}
	return claims.Account.BSS, nil
}

// credentialsError says whether IAM refused the credentials or did not answer. IAM refuses an unknown API key with 400
// (BXNIM0415E); only its text tells an expired one.
func credentialsError(err error) error {
	var problem *core.AuthenticationError
	if !errors.As(err, &problem) || problem.HTTPProblem == nil || problem.Response == nil {
		return fmt.Errorf("look up the account of the credentials: %w", err)
	}
	refused := explainRefusal(problem.Response, problem.HTTPProblem.IBMProblem)
	switch code := problem.Response.StatusCode; {
	case code < 400 || code >= 500 || code == 429 || code == 404:
		return fmt.Errorf("look up the account of the credentials: %w", err)
	case strings.Contains(strings.ToLower(err.Error()), "expired"):
		return fmt.Errorf("%w: %w", cloud.ErrCredentialsExpired, refused)
	default:
		return fmt.Errorf("%w: %w", cloud.ErrCredentials, refused)
	}
}

// vpcIn returns the client of a region. IBM's address of a region is known, or one region is asked for another one's, as the installer does.
func (c *Client) vpcIn(ctx context.Context, region string) (*vpcv1.VpcV1, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if api := c.vpcs[region]; api != nil {
		return api, nil
	}
	address, err := vpcv1.GetServiceURLForRegion(region)
	if own := c.at.VPC; own != "" {
		address, err = strings.ReplaceAll(own, "{region}", region), nil
	}
	if err != nil {
		if address, err = c.addressOf(ctx, region); err != nil {
			return nil, fmt.Errorf("look up the address of region %s: %w", region, err)
		}
	}
	api, err := c.vpcAt(address)
	if err != nil {
		return nil, err
	}
	c.vpcs[region] = api
	return api, nil
}

func (c *Client) vpcAt(address string) (*vpcv1.VpcV1, error) {
	api, err := vpcv1.NewVpcV1(&vpcv1.VpcV1Options{Authenticator: answer.Sealed(c.auth), URL: address})
	if err != nil {
		return nil, fmt.Errorf("open the VPC service at %s: %w", address, err)
	}
	api.Service.SetHTTPClient(c.web)
	return api, nil
}

func (c *Client) addressOf(ctx context.Context, region string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	api, err := c.vpcAt(vpcv1.DefaultServiceURL)
	if err != nil {
		return "", err
	}
	found, err := resultOrRefusal(api.GetRegionWithContext(ctx, &vpcv1.GetRegionOptions{Name: &region}))
	if err != nil {
		return "", err
	}
	if zeroOrValue(found.Endpoint) == "" {
		return "", errEmpty
	}
	return strings.TrimSuffix(*found.Endpoint, "/") + "/v1", nil
}

// Verify counts what is left of a cluster, in one pass. It never fails: what could not be queried is a finding in the pass. The caller numbers the
// pass and decides how many clean ones it needs.
func (c *Client) Verify(ctx context.Context, t cloud.Target) contract.Pass {
	return c.count.Verify(ctx, t)
}
