package ibmcloud

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/IBM/go-sdk-core/v5/core"
	"github.com/IBM/platform-services-go-sdk/iamidentityv1"
	"github.com/IBM/platform-services-go-sdk/iampolicymanagementv1"
)

// policy is a policy of IAM. Its attributes come in any order.
type policy struct {
	ID      string `json:"id"`
	Type    string `json:"type"`
	Subject struct {
		Attributes []attribute `json:"attributes"`
	} `json:"subject"`
	Resource struct {
		Attributes []attribute `json:"attributes"`
	} `json:"resource"`
}

type attribute struct {
	Key   string `json:"key"`
	Value any    `json:"value"`
}

func valueOf(attributes []attribute, key string) string {
	for _, a := range attributes {
		if a.Key == key {
			return fmt.Sprint(a.Value)
		}
	}
	return ""
}

// importGUID is the installer's authorization: images of the VPC service may be read from the instance of Cloud Object Storage that is
// returned; empty: the policy is another one.
func (p policy) importGUID() (guid string) {
	subject, resource := p.Subject.Attributes, p.Resource.Attributes
	if p.Type != iampolicymanagementv1.ListV2PoliciesOptionsTypeAuthorizationConst || valueOf(subject, "serviceName") != "is" ||
		valueOf(subject, "resourceType") != "image" || valueOf(resource, "serviceName") != "cloud-object-storage" {
		return ""
	}
	return valueOf(resource, "serviceInstance")
}

// inGroup is the id of the resource group that the policy is about; empty: it is about something else.
func (p policy) inGroup() string {
	resource := p.Resource.Attributes
	if valueOf(resource, "resourceType") == "resource-group" {
		return valueOf(resource, "resource")
	}
	return valueOf(resource, "resourceGroupId")
}

func (c *Client) policiesOf(ctx context.Context, account string) ([]policy, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	return readAll[policy](list{what: "policies", array: "policies", next: startsAfter, get: func(cursor string) (any, *core.DetailedResponse, error) {
		return c.policies.ListV2PoliciesWithContext(ctx, &iampolicymanagementv1.ListV2PoliciesOptions{AccountID: &account, Limit: full, Start: optionalCursor(cursor)})
	}})
}

type serviceID struct {
	ID      string    `json:"id"`
	CRN     string    `json:"crn"`
	IAMID   string    `json:"iam_id"`
	Name    string    `json:"name"`
	Created time.Time `json:"created_at"`
}

// creationTime is the end of the minute in which a service ID was made: IAM tells no seconds.
func (id serviceID) creationTime() time.Time {
	if id.Created.IsZero() {
		return id.Created
	}
	return id.Created.Add(time.Minute - time.Second)
}

// serviceIDs lists all of the account: there is no search for the beginning of a name.
func (c *Client) serviceIDs(ctx context.Context, account string) ([]serviceID, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	return readAll[serviceID](list{
		what: "service IDs", array: "serviceids",
		get: func(cursor string) (any, *core.DetailedResponse, error) {
			return c.identity.ListServiceIdsWithContext(ctx, &iamidentityv1.ListServiceIdsOptions{AccountID: &account, Pagesize: full, Pagetoken: optionalCursor(cursor)})
		},
		next: func(page any, _ string, _ int) (string, error) {
			return tokenIn(page.(*iamidentityv1.ServiceIDList).Next)
		},
	})
}

// removeIAM deletes the authorizations of the cluster's storage, and ccoctl's service IDs with their policies; their API keys go with them. A
// policy goes first: without its service ID nobody could tell whose it was.
func (s *removal) removeIAM(ctx context.Context) {
	ids, err := s.serviceIDs(ctx, s.account)
	s.AddError("remove", err)
	complete := err == nil
	policies, err := s.policiesOf(ctx, s.account)
	s.AddError("remove", err)
	for _, p := range policies {
		if s.ownsPolicy(ctx, p, ids, complete) {
			s.deletePolicy(ctx, p)
		}
	}
	if err != nil {
		return // the service IDs are the way to their policies
	}
	for _, id := range ids {
		if s.owner.hasServiceID(id) {
			callCtx, cancel := context.WithTimeout(ctx, callTimeout)
			s.NoteDeletion(id.ID, "service ID "+id.ID+" ("+id.Name+")", explainRefusal(s.identity.DeleteServiceIDWithContext(callCtx, &iamidentityv1.DeleteServiceIDOptions{ID: &id.ID})))
			cancel()
		}
	}
}

func (s *removal) deletePolicy(ctx context.Context, p policy) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	s.NoteDeletion(p.ID, p.Type+" policy "+p.ID, explainRefusal(s.policies.DeleteV2PolicyWithContext(ctx, &iampolicymanagementv1.DeleteV2PolicyOptions{ID: &p.ID})))
}

// ownsPolicy reports that a policy is this cluster's: the authorization of its storage, one of its service IDs', or one about its resource
// group for a service ID that no longer exists.
func (s *removal) ownsPolicy(ctx context.Context, p policy, ids []serviceID, complete bool) bool {
	if guid := p.importGUID(); guid != "" {
		if slices.ContainsFunc(s.storage, func(r resource) bool { return r.GUID == guid }) {
			return true
		}
		r, err := s.getInstance(ctx, guid)
		if !isUnreadable(err) {
			s.AddError("look up the storage of authorization "+p.ID, err)
		}
		return err == nil && s.owner.isStorage(r)
	}
	subject := valueOf(p.Subject.Attributes, "iam_id")
	if !strings.HasPrefix(subject, "iam-ServiceId-") {
		return false
	}
	at := slices.IndexFunc(ids, func(id serviceID) bool { return id.IAMID == subject })
	if at >= 0 {
		return s.owner.hasServiceID(ids[at])
	}
	return complete && s.owner.groups[p.inGroup()] != ""
}
