package inventory

import (
	"cmp"
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

// equip gives a client of a service its pace and its retries.
func equip[T any](c *Client, region, service string, api T, err error, base func(T) *core.BaseService) (T, error) {
	if err != nil {
		return api, err
	}
	web := &http.Client{Transport: paced{c.pace.Lane(region, service), c.web}}
	base(api).SetHTTPClient(answer.Patient(web, retries, cmp.Or(c.cfg.Backoff, defaultBackoff)))
	return api, nil
}

func (c *Client) vpcIn(region string) (*vpcv1.VpcV1, error) {
	url := strings.ReplaceAll(cmp.Or(c.cfg.URLs.VPC, "https://{region}.iaas.cloud.ibm.com/v1"), "{region}", region)
	api, err := vpcv1.NewVpcV1(&vpcv1.VpcV1Options{Authenticator: answer.Sealed(c.cfg.Authenticator), URL: url})
	return equip(c, region, partVPC, api, err, func(a *vpcv1.VpcV1) *core.BaseService { return a.Service })
}

func (c *Client) groupManager() (*resourcemanagerv2.ResourceManagerV2, error) {
	api, err := resourcemanagerv2.NewResourceManagerV2(&resourcemanagerv2.ResourceManagerV2Options{Authenticator: answer.Sealed(c.cfg.Authenticator), URL: c.cfg.URLs.ResourceManager})
	return equip(c, Global, partGroups, api, err, func(a *resourcemanagerv2.ResourceManagerV2) *core.BaseService { return a.Service })
}

// controller is asked by several parts, and counts its calls in each.
func (c *Client) controller(part string) (*resourcecontrollerv2.ResourceControllerV2, error) {
	api, err := resourcecontrollerv2.NewResourceControllerV2(&resourcecontrollerv2.ResourceControllerV2Options{
		Authenticator: answer.Sealed(c.cfg.Authenticator), URL: c.cfg.URLs.ResourceController})
	return equip(c, Global, part, api, err, func(a *resourcecontrollerv2.ResourceControllerV2) *core.BaseService { return a.Service })
}

func (c *Client) identities() (*iamidentityv1.IamIdentityV1, error) {
	api, err := iamidentityv1.NewIamIdentityV1(&iamidentityv1.IamIdentityV1Options{Authenticator: answer.Sealed(c.cfg.Authenticator), URL: c.cfg.URLs.IAM})
	return equip(c, Global, partIAM, api, err, func(a *iamidentityv1.IamIdentityV1) *core.BaseService { return a.Service })
}

func (c *Client) policies() (*iampolicymanagementv1.IamPolicyManagementV1, error) {
	api, err := iampolicymanagementv1.NewIamPolicyManagementV1(&iampolicymanagementv1.IamPolicyManagementV1Options{
		Authenticator: answer.Sealed(c.cfg.Authenticator), URL: c.cfg.URLs.IAM})
	return equip(c, Global, partIAM, api, err, func(a *iampolicymanagementv1.IamPolicyManagementV1) *core.BaseService { return a.Service })
}

func (c *Client) cisZones(instance string) (*zonesv1.ZonesV1, error) {
	api, err := zonesv1.NewZonesV1(&zonesv1.ZonesV1Options{Authenticator: answer.Sealed(c.cfg.Authenticator), URL: c.cfg.URLs.CIS, Crn: &instance})
	return equip(c, Global, partCIS, api, err, func(a *zonesv1.ZonesV1) *core.BaseService { return a.Service })
}

func (c *Client) cisRecords(instance, zone string) (*dnsrecordsv1.DnsRecordsV1, error) {
	api, err := dnsrecordsv1.NewDnsRecordsV1(&dnsrecordsv1.DnsRecordsV1Options{
		Authenticator: answer.Sealed(c.cfg.Authenticator), URL: c.cfg.URLs.CIS, Crn: &instance, ZoneIdentifier: &zone})
	return equip(c, Global, partCIS, api, err, func(a *dnsrecordsv1.DnsRecordsV1) *core.BaseService { return a.Service })
}

func (c *Client) dnsServices() (*dnssvcsv1.DnsSvcsV1, error) {
	api, err := dnssvcsv1.NewDnsSvcsV1(&dnssvcsv1.DnsSvcsV1Options{Authenticator: answer.Sealed(c.cfg.Authenticator), URL: c.cfg.URLs.DNSServices})
	return equip(c, Global, partDNS, api, err, func(a *dnssvcsv1.DnsSvcsV1) *core.BaseService { return a.Service })
}

func (c *Client) searching() (*globalsearchv2.GlobalSearchV2, error) {
	api, err := globalsearchv2.NewGlobalSearchV2(&globalsearchv2.GlobalSearchV2Options{Authenticator: answer.Sealed(c.cfg.Authenticator), URL: c.cfg.URLs.GlobalSearch})
	return equip(c, Global, partSearch, api, err, func(a *globalsearchv2.GlobalSearchV2) *core.BaseService { return a.Service })
}

func (c *Client) tagging() (*globaltaggingv1.GlobalTaggingV1, error) {
	api, err := globaltaggingv1.NewGlobalTaggingV1(&globaltaggingv1.GlobalTaggingV1Options{Authenticator: answer.Sealed(c.cfg.Authenticator), URL: c.cfg.URLs.GlobalTagging})
	return equip(c, Global, partTags, api, err, func(a *globaltaggingv1.GlobalTaggingV1) *core.BaseService { return a.Service })
}
