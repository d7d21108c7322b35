package inventory

import (
	"context"
	"strings"
	"time"

	"github.com/IBM/platform-services-go-sdk/iamidentityv1"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/runner/cloud/ibmcloud/answer"
	"github.com/ocpctl/ocpctl/runner/cloud/ibmcloud/kinds"
)

// identities is what IAM has in the account.
type identities struct {
	*listing
	all      map[string]bool   // IAM ids of every service ID
	reported map[string]string // CRNs of the reported ones, by IAM id
}

// listIAM lists service IDs, their API keys, and policies.
func (l *listing) listIAM() {
	i := &identities{listing: l, all: map[string]bool{}, reported: map[string]string{}}
	l.runList("ListServiceIds", i.serviceIDs)
	if l.lists.Err() != nil {
		return // without them, every key and policy would seem to be left alone
	}
	l.runList("ListAPIKeys", i.listKeys)
	l.runList("ListV2Policies", i.listPolicies)
}

func (i *identities) serviceIDs(ctx context.Context) error {
	return i.api.ListServiceIDs(ctx, i.account, func(list []iamidentityv1.ServiceID) error {
		var page []thing
		for _, s := range list {
			i.all[answer.Text(s.IamID)] = true
			t := thing{holds: operatorID.MatchString(answer.Text(s.Name)), SeenResource: contract.SeenResource{
				ID: answer.Text(s.CRN, s.ID), Type: "service-id", Name: answer.Text(s.Name), MadeAt: minuteEnd(kinds.MadeAt(s.CreatedAt)),
			}}
			if i.judgeThing(&t) {
				i.reported[answer.Text(s.IamID)] = t.ID
			}
			page = append(page, t)
		}
		return i.reportPage(page)
	})
}

// minuteEnd is the end of the minute in which something was made: IAM tells no seconds of service IDs and keys, and what looks older than its
// cluster is somebody else's.
func minuteEnd(at time.Time) time.Time {
	if at.IsZero() {
		return at
	}
	return at.Add(time.Minute - time.Second)
}

// generatedKey is the name of the key that ccoctl makes for each service ID.
const generatedKey = "ccoctl-generated-key"

func (i *identities) listKeys(ctx context.Context) error {
	return i.api.ListAPIKeys(ctx, i.account, func(list []iamidentityv1.APIKey) error {
		var page []thing
		for _, k := range list {
			lost := answer.Text(k.Name) == generatedKey && !i.all[answer.Text(k.IamID)]
			page = append(page, thing{holds: lost, in: []string{i.reported[answer.Text(k.IamID)]}, SeenResource: contract.SeenResource{
				ID: "api-key/" + answer.Text(k.ID), Type: "api-key", Name: answer.Text(k.Name), MadeAt: minuteEnd(kinds.MadeAt(k.CreatedAt)),
			}})
		}
		return i.reportPage(page)
	})
}

// listPolicies reports those of reported service IDs and resource groups, and two that are left alone: of a service ID that is gone, in a
// resource group that is gone, and of an Object Storage instance that is gone, for VPC images.
func (i *identities) listPolicies(ctx context.Context) error {
	return i.api.ListPolicies(ctx, i.account, nil, nil, func(page []kinds.Policy) error {
		var found []thing
		for _, p := range page {
			t, err := i.readPolicy(ctx, p)
			if err != nil {
				return err
			}
			found = append(found, t)
		}
		return i.reportPage(found)
	})
}

func (i *identities) readPolicy(ctx context.Context, p kinds.Policy) (thing, error) {
	subject, resource := p.Who, p.About
	t := thing{group: resource["resourceGroupId"], SeenResource: contract.SeenResource{ID: "policy/" + answer.Text(p.ID), Type: answer.Text(p.Type) + "-policy", MadeAt: kinds.MadeAt(p.CreatedAt)}}
	if t.group == "" {
		t.group = resource["resource"]
	}
	if who := subject["iam_id"]; strings.HasPrefix(who, "iam-ServiceId-") {
		t.in = []string{i.reported[who]}
		_, exists := i.groups[t.group]
		t.holds = i.reported[who] != "" || !i.all[who] && t.group != "" && !exists
	}
	if guid := resource["serviceInstance"]; guid != "" && resource["serviceName"] == "cloud-object-storage" && subject["serviceName"] == "is" {
		instance, gone, err := i.getInstance(ctx, kinds.ServiceIAM, guid)
		if err != nil {
			return thing{}, err
		}
		t.holds = gone
		if instance != nil && isNamed(answer.Text(instance.Name)) {
			t.Name, t.Within = answer.Text(instance.Name), answer.Text(instance.CRN, instance.ID)
		}
	}
	return t, nil
}
