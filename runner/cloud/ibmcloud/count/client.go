package count

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/IBM/go-sdk-core/v5/core"
	"github.com/IBM/networking-go-sdk/dnsrecordsv1"
	"github.com/IBM/networking-go-sdk/dnssvcsv1"
	"github.com/IBM/networking-go-sdk/zonesv1"
	"github.com/IBM/platform-services-go-sdk/globalsearchv2"
	"github.com/IBM/platform-services-go-sdk/globaltaggingv1"
	"github.com/IBM/platform-services-go-sdk/iamidentityv1"
	"github.com/IBM/platform-services-go-sdk/iampolicymanagementv1"
	"github.com/IBM/platform-services-go-sdk/resourcecontrollerv2"
	"github.com/IBM/platform-services-go-sdk/resourcemanagerv2"
	"github.com/IBM/vpc-go-sdk/vpcv1"

	"github.com/ocpctl/ocpctl/runner/cloud"
	"github.com/ocpctl/ocpctl/runner/cloud/ibmcloud/access"
	"github.com/ocpctl/ocpctl/runner/cloud/ibmcloud/answer"
)

const (
	// global is the region in the record of a query that no region answers.
	global = "global"
	// callTimeout limits one query with all its pages and retries.
	callTimeout = time.Minute
	// parallel is how many queries are made at once.
	parallel = 6
	// retries of one request and the longest wait between two.
	retries    = 5
	maxBackoff = 4 * time.Second
)

// regionPart is replaced in URLs.VPC.
const regionPart = "{region}"

// vpcURL is where IBM answers for a region.
const vpcURL = "https://" + regionPart + ".iaas.cloud.ibm.com/v1"

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
	cfg  Config
	http *http.Client
}

// New makes no call yet.
func New(cfg Config) *Client {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Client{cfg: cfg, http: answer.Patient(cfg.HTTP, retries, cmp.Or(cfg.MaxBackoff, maxBackoff))}
}

// caller returns the id of the account that our token is for, and our IAM id.
func (c *Client) caller() (account, iamID string, err error) {
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

func (c *Client) vpcIn(region string) (*vpcv1.VpcV1, error) {
	url := strings.ReplaceAll(cmp.Or(c.cfg.URLs.VPC, vpcURL), regionPart, region)
	api, err := vpcv1.NewVpcV1(&vpcv1.VpcV1Options{Authenticator: answer.Sealed(c.cfg.Authenticator), URL: url})
	return api, c.equip(err, func() *core.BaseService { return api.Service })
}

func (c *Client) managers() (*resourcemanagerv2.ResourceManagerV2, error) {
	api, err := resourcemanagerv2.NewResourceManagerV2(&resourcemanagerv2.ResourceManagerV2Options{Authenticator: answer.Sealed(c.cfg.Authenticator), URL: c.cfg.URLs.ResourceManager})
	return api, c.equip(err, func() *core.BaseService { return api.Service })
}

func (c *Client) resources() (*resourcecontrollerv2.ResourceControllerV2, error) {
	api, err := resourcecontrollerv2.NewResourceControllerV2(&resourcecontrollerv2.ResourceControllerV2Options{
		Authenticator: answer.Sealed(c.cfg.Authenticator), URL: c.cfg.URLs.ResourceController})
	return api, c.equip(err, func() *core.BaseService { return api.Service })
}

func (c *Client) identities() (*iamidentityv1.IamIdentityV1, error) {
	api, err := iamidentityv1.NewIamIdentityV1(&iamidentityv1.IamIdentityV1Options{Authenticator: answer.Sealed(c.cfg.Authenticator), URL: c.cfg.URLs.IAM})
	return api, c.equip(err, func() *core.BaseService { return api.Service })
}

func (c *Client) policies() (*iampolicymanagementv1.IamPolicyManagementV1, error) {
	api, err := iampolicymanagementv1.NewIamPolicyManagementV1(&iampolicymanagementv1.IamPolicyManagementV1Options{
		Authenticator: answer.Sealed(c.cfg.Authenticator), URL: c.cfg.URLs.IAM})
	return api, c.equip(err, func() *core.BaseService { return api.Service })
}

func (c *Client) cisZones(crn string) (*zonesv1.ZonesV1, error) {
	api, err := zonesv1.NewZonesV1(&zonesv1.ZonesV1Options{Authenticator: answer.Sealed(c.cfg.Authenticator), URL: c.cfg.URLs.CIS, Crn: &crn})
	return api, c.equip(err, func() *core.BaseService { return api.Service })
}

func (c *Client) cisRecords(z zone) (*dnsrecordsv1.DnsRecordsV1, error) {
	api, err := dnsrecordsv1.NewDnsRecordsV1(&dnsrecordsv1.DnsRecordsV1Options{
		Authenticator: answer.Sealed(c.cfg.Authenticator), URL: c.cfg.URLs.CIS, Crn: &z.instance, ZoneIdentifier: &z.id})
	return api, c.equip(err, func() *core.BaseService { return api.Service })
}

func (c *Client) dnsServices() (*dnssvcsv1.DnsSvcsV1, error) {
	api, err := dnssvcsv1.NewDnsSvcsV1(&dnssvcsv1.DnsSvcsV1Options{Authenticator: answer.Sealed(c.cfg.Authenticator), URL: c.cfg.URLs.DNSServices})
	return api, c.equip(err, func() *core.BaseService { return api.Service })
}

func (c *Client) index() (*globalsearchv2.GlobalSearchV2, error) {
	api, err := globalsearchv2.NewGlobalSearchV2(&globalsearchv2.GlobalSearchV2Options{Authenticator: answer.Sealed(c.cfg.Authenticator), URL: c.cfg.URLs.GlobalSearch})
	return api, c.equip(err, func() *core.BaseService { return api.Service })
}

func (c *Client) tags() (*globaltaggingv1.GlobalTaggingV1, error) {
	api, err := globaltaggingv1.NewGlobalTaggingV1(&globaltaggingv1.GlobalTaggingV1Options{Authenticator: answer.Sealed(c.cfg.Authenticator), URL: c.cfg.URLs.GlobalTagging})
	return api, c.equip(err, func() *core.BaseService { return api.Service })
}

// equip gives a service the client that repeats refused requests, unless the service could not be made.
func (c *Client) equip(err error, of func() *core.BaseService) error {
	if err == nil {
		of().SetHTTPClient(c.http)
	}
	return err
}
