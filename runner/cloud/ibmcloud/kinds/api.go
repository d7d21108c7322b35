// Package kinds is the table of what a cluster can consist of on IBM Cloud: what each kind is called, how it is listed, and what its list
// shows.
//
// The count, which proves that nothing is left, and the inventory, which looks through a whole account, are derived from it: a kind of VPC
// resource that is added here is counted and listed. What deletes must never import it. Deletions have look-ups of their own, so that a mistake
// in a list cannot hide a leftover from the deletion and from the count alike.
//
// It lists and never changes anything, and it never takes an unanswered query for an empty list. What of a list belongs to a cluster is for
// its callers to say.
package kinds

import (
	"cmp"
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

	"github.com/ocpctl/ocpctl/runner/cloud/ibmcloud/access"
	"github.com/ocpctl/ocpctl/runner/cloud/ibmcloud/answer"
)

// Global is the region of what is in none.
const Global = "global"

// The services, as parts of an account are named.
const (
	ServiceVPC       = "vpc"
	ServiceGroups    = "resource-manager"
	ServiceInstances = "resource-controller"
	ServiceIAM       = "iam"
	ServiceCIS       = "cis"
	ServiceDNS       = "dns"
	ServiceSearch    = "search"
	ServiceTags      = "tags"
)

// API makes the clients of IBM's services.
type API struct {
	Authenticator core.Authenticator
	URLs          access.URLs
	HTTP          func(service, region string) *http.Client // for the calls of a service
}

func equipClient[T any](a API, service, region string, api T, err error, base func(T) *core.BaseService) (T, error) {
	if err == nil {
		base(api).SetHTTPClient(a.HTTP(service, region))
	}
	return api, err
}

// VPC returns the client of a region.
func (a API) VPC(region string) (*vpcv1.VpcV1, error) {
	url := strings.ReplaceAll(cmp.Or(a.URLs.VPC, "https://{region}.iaas.cloud.ibm.com/v1"), "{region}", region)
	api, err := vpcv1.NewVpcV1(&vpcv1.VpcV1Options{Authenticator: answer.Sealed(a.Authenticator), URL: url})
	return equipClient(a, ServiceVPC, region, api, err, func(s *vpcv1.VpcV1) *core.BaseService { return s.Service })
}

// ResourceManager returns the client for resource groups.
func (a API) ResourceManager() (*resourcemanagerv2.ResourceManagerV2, error) {
	api, err := resourcemanagerv2.NewResourceManagerV2(&resourcemanagerv2.ResourceManagerV2Options{Authenticator: answer.Sealed(a.Authenticator), URL: a.URLs.ResourceManager})
	return equipClient(a, ServiceGroups, Global, api, err, func(s *resourcemanagerv2.ResourceManagerV2) *core.BaseService { return s.Service })
}

// newController returns the client for instances of services, which several parts of an account ask.
func (a API) newController(service string) (*resourcecontrollerv2.ResourceControllerV2, error) {
	api, err := resourcecontrollerv2.NewResourceControllerV2(&resourcecontrollerv2.ResourceControllerV2Options{
		Authenticator: answer.Sealed(a.Authenticator), URL: a.URLs.ResourceController})
	return equipClient(a, service, Global, api, err, func(s *resourcecontrollerv2.ResourceControllerV2) *core.BaseService { return s.Service })
}

func (a API) newIdentities() (*iamidentityv1.IamIdentityV1, error) {
	api, err := iamidentityv1.NewIamIdentityV1(&iamidentityv1.IamIdentityV1Options{Authenticator: answer.Sealed(a.Authenticator), URL: a.URLs.IAM})
	return equipClient(a, ServiceIAM, Global, api, err, func(s *iamidentityv1.IamIdentityV1) *core.BaseService { return s.Service })
}

func (a API) newPolicies() (*iampolicymanagementv1.IamPolicyManagementV1, error) {
	api, err := iampolicymanagementv1.NewIamPolicyManagementV1(&iampolicymanagementv1.IamPolicyManagementV1Options{
		Authenticator: answer.Sealed(a.Authenticator), URL: a.URLs.IAM})
	return equipClient(a, ServiceIAM, Global, api, err, func(s *iampolicymanagementv1.IamPolicyManagementV1) *core.BaseService { return s.Service })
}

func (a API) cisZones(instance string) (*zonesv1.ZonesV1, error) {
	api, err := zonesv1.NewZonesV1(&zonesv1.ZonesV1Options{Authenticator: answer.Sealed(a.Authenticator), URL: a.URLs.CIS, Crn: &instance})
	return equipClient(a, ServiceCIS, Global, api, err, func(s *zonesv1.ZonesV1) *core.BaseService { return s.Service })
}

func (a API) cisRecords(z Zone) (*dnsrecordsv1.DnsRecordsV1, error) {
	api, err := dnsrecordsv1.NewDnsRecordsV1(&dnsrecordsv1.DnsRecordsV1Options{
		Authenticator: answer.Sealed(a.Authenticator), URL: a.URLs.CIS, Crn: &z.Instance, ZoneIdentifier: &z.ID})
	return equipClient(a, ServiceCIS, Global, api, err, func(s *dnsrecordsv1.DnsRecordsV1) *core.BaseService { return s.Service })
}

func (a API) dnsServices() (*dnssvcsv1.DnsSvcsV1, error) {
	api, err := dnssvcsv1.NewDnsSvcsV1(&dnssvcsv1.DnsSvcsV1Options{Authenticator: answer.Sealed(a.Authenticator), URL: a.URLs.DNSServices})
	return equipClient(a, ServiceDNS, Global, api, err, func(s *dnssvcsv1.DnsSvcsV1) *core.BaseService { return s.Service })
}

func (a API) newSearch() (*globalsearchv2.GlobalSearchV2, error) {
	api, err := globalsearchv2.NewGlobalSearchV2(&globalsearchv2.GlobalSearchV2Options{Authenticator: answer.Sealed(a.Authenticator), URL: a.URLs.GlobalSearch})
	return equipClient(a, ServiceSearch, Global, api, err, func(s *globalsearchv2.GlobalSearchV2) *core.BaseService { return s.Service })
}

func (a API) newTagging() (*globaltaggingv1.GlobalTaggingV1, error) {
	api, err := globaltaggingv1.NewGlobalTaggingV1(&globaltaggingv1.GlobalTaggingV1Options{Authenticator: answer.Sealed(a.Authenticator), URL: a.URLs.GlobalTagging})
	return equipClient(a, ServiceTags, Global, api, err, func(s *globaltaggingv1.GlobalTaggingV1) *core.BaseService { return s.Service })
}

// MadeAt is a time of creation of the SDKs; zero if IBM told none.
func MadeAt[T fmt.Stringer](at *T) time.Time {
	if at == nil {
		return time.Time{}
	}
	return ParseTime((*at).String())
}

// ParseTime reads a time of creation; zero if it is none.
func ParseTime(text string) time.Time {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}
	}
	return at.UTC()
}
