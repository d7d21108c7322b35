package names

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
)

// ibmMetadata is metadata.json for IBM Cloud (openshift/installer pkg/types/ibmcloud/metadata.go, 4.20).
type ibmMetadata struct {
	common
	IBMCloud ibmPart `json:"ibmcloud"`
}

// ibmPart says where the destroyer searches for resources whose names contain the infraID. With both DNS ids empty it deletes no DNS
// record and says so only in its log; subnets and a VPC that are named are kept.
type ibmPart struct {
	AccountID         string            `json:"accountID"`
	BaseDomain        string            `json:"baseDomain"`
	CISInstanceCRN    string            `json:"cisInstanceCRN,omitempty"`
	DNSInstanceID     string            `json:"dnsInstanceID,omitempty"`
	Region            string            `json:"region,omitempty"`
	ResourceGroupName string            `json:"resourceGroupName,omitempty"`
	ServiceEndpoints  []json.RawMessage `json:"serviceEndpoints,omitempty"`
	Subnets           []string          `json:"subnets,omitempty"`
	VPC               string            `json:"vpc,omitempty"`
}

// Found is what only the cloud tells of a cluster on IBM Cloud. Of the two DNS instances a cluster has one.
type Found struct {
	Account        string
	CISInstanceCRN string // of the Internet Services instance with the base domain, for published clusters
	DNSInstanceID  string // of the DNS Services instance with the base domain, for internal ones
}

// ibmMetadata leaves the DNS instance to Complete: it is looked up right before the document is used.
func (s Scope) ibmMetadata(of Identity) ibmMetadata {
	return ibmMetadata{common: s.commonFields(of), IBMCloud: ibmPart{
		AccountID: of.Account, BaseDomain: s.BaseDomain, Region: s.Region, ResourceGroupName: s.ResourceGroup(of),
	}}
}

var groupID = regexp.MustCompile(`^[0-9a-f]{32}$`)

// IsResourceGroupID reports whether id is spelt as IBM Cloud spells the id of a resource group.
func IsResourceGroupID(id string) bool { return groupID.MatchString(id) }

// ResourceGroup is the name of the resource group that everything of the identity is in; empty: it is unknown.
func (s Scope) ResourceGroup(of Identity) string { return of.CCOName }

var (
	cisCRN      = regexp.MustCompile(`^crn:v1:[a-z0-9-]+:public:internet-svcs:[a-z0-9-]+:a/([0-9a-f]{32}):[0-9a-f-]{36}::$`)
	dnsInstance = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
)

// checkIBM accepts an empty value where the installer writes one if a look-up failed: Missing lists them, and Complete sets them.
func (s Scope) checkIBM(raw []byte, of Identity) error {
	var got ibmMetadata
	if err := json.Unmarshal(raw, &got); err != nil {
		return errNoDocument
	}
	want := s.ibmMetadata(of)
	if err := got.checkAgainst(want.common); err != nil {
		return err
	}
	if err := firstDifference([]difference{
		{"ibmcloud.baseDomain", got.IBMCloud.BaseDomain, want.IBMCloud.BaseDomain},
		{"ibmcloud.region", got.IBMCloud.Region, want.IBMCloud.Region},
		{"ibmcloud.accountID", cmp.Or(got.IBMCloud.AccountID, want.IBMCloud.AccountID), cmp.Or(want.IBMCloud.AccountID, got.IBMCloud.AccountID)},
		{"ibmcloud.vpc", got.IBMCloud.VPC, ""},
	}); err != nil {
		return err
	}
	if group := got.IBMCloud.ResourceGroupName; group != "" && group != want.IBMCloud.ResourceGroupName && !(of.CCOName == "" && s.IsCCOName(group)) {
		return fmt.Errorf("ibmcloud.resourceGroupName is %.80q, but this cluster's is %.80q", group, want.IBMCloud.ResourceGroupName)
	}
	switch {
	case len(got.IBMCloud.ServiceEndpoints) > 0:
		return errors.New("ibmcloud.serviceEndpoints is not empty, but no profile sets service endpoints")
	case len(got.IBMCloud.Subnets) > 0:
		return errors.New("ibmcloud.subnets is not empty, but no profile names subnets")
	}
	return got.IBMCloud.checkDNS(of.Account)
}

// checkDNS checks that the DNS instance is one of the account's.
func (p ibmPart) checkDNS(account string) error {
	switch crn := cisCRN.FindStringSubmatch(p.CISInstanceCRN); {
	case p.CISInstanceCRN != "" && p.DNSInstanceID != "":
		return errors.New("ibmcloud.cisInstanceCRN and ibmcloud.dnsInstanceID are both set, but a cluster has one of them")
	case p.CISInstanceCRN != "" && crn == nil:
		return fmt.Errorf("ibmcloud.cisInstanceCRN %.120q is not the CRN of an Internet Services instance", p.CISInstanceCRN)
	case p.CISInstanceCRN != "" && account != "" && crn[1] != account:
		return fmt.Errorf("ibmcloud.cisInstanceCRN belongs to account %s, but this cluster is in account %.80s", crn[1], account)
	case p.DNSInstanceID != "" && !dnsInstance.MatchString(p.DNSInstanceID):
		return fmt.Errorf("ibmcloud.dnsInstanceID %.80q is not the id of a DNS Services instance", p.DNSInstanceID)
	}
	return nil
}

// Missing lists the fields of a metadata.json that are empty although a destroyer needs them. On AWS none is ever empty.
func (s Scope) Missing(raw []byte) (fields []string) {
	var got ibmMetadata
	if s.Platform != IBMCloud || json.Unmarshal(raw, &got) != nil {
		return nil
	}
	if got.IBMCloud.AccountID == "" {
		fields = append(fields, "ibmcloud.accountID")
	}
	if got.IBMCloud.CISInstanceCRN == "" && got.IBMCloud.DNSInstanceID == "" {
		fields = append(fields, "ibmcloud.cisInstanceCRN")
	}
	if got.IBMCloud.ResourceGroupName == "" {
		fields = append(fields, "ibmcloud.resourceGroupName")
	}
	return fields
}

// Complete sets what is empty in a metadata.json to what the cloud says and to the identity's resource group, and keeps everything else. A
// value that differs from what the cloud says is an error: the destroyer would search in another place. A document that names one DNS instance
// gets no second one.
func (s Scope) Complete(raw []byte, of Identity, found Found) ([]byte, error) {
	if s.Platform != IBMCloud {
		return raw, nil
	}
	var document, part map[string]json.RawMessage
	var got ibmMetadata
	if json.Unmarshal(raw, &document) != nil || json.Unmarshal(document["ibmcloud"], &part) != nil || part == nil || json.Unmarshal(raw, &got) != nil {
		return nil, errNoDocument
	}
	if got.IBMCloud.CISInstanceCRN != "" {
		found.DNSInstanceID = ""
	}
	if got.IBMCloud.DNSInstanceID != "" {
		found.CISInstanceCRN = ""
	}
	for _, field := range []struct{ name, got, want string }{
		{"accountID", got.IBMCloud.AccountID, found.Account},
		{"cisInstanceCRN", got.IBMCloud.CISInstanceCRN, found.CISInstanceCRN},
		{"dnsInstanceID", got.IBMCloud.DNSInstanceID, found.DNSInstanceID},
		{"resourceGroupName", got.IBMCloud.ResourceGroupName, s.ResourceGroup(of)},
	} {
		switch {
		case field.want == "":
		case field.got == "":
			part[field.name], _ = json.Marshal(field.want) // a string always encodes
		case field.got != field.want:
			return nil, fmt.Errorf("ibmcloud.%s is %.120q, but the cloud says %.120q", field.name, field.got, field.want)
		}
	}
	var err error
	if document["ibmcloud"], err = json.Marshal(part); err != nil {
		return nil, fmt.Errorf("encode metadata.json: %w", err)
	}
	return json.Marshal(document)
}
