package kinds

import (
	"context"
	"fmt"

	"github.com/IBM/platform-services-go-sdk/iamidentityv1"
	"github.com/IBM/platform-services-go-sdk/iampolicymanagementv1"

	"github.com/ocpctl/ocpctl/runner/cloud/ibmcloud/answer"
)

// ListServiceIDs gives the account's service IDs to take, page by page. The API finds whole names only, so all are listed.
func (a API) ListServiceIDs(ctx context.Context, account string, take func([]iamidentityv1.ServiceID) error) error {
	api, err := a.newIdentities()
	if err != nil {
		return err
	}
	return answer.TokenPages(func(token *string) (*string, error) {
		page, response, err := api.ListServiceIdsWithContext(ctx, &iamidentityv1.ListServiceIdsOptions{AccountID: &account, Pagesize: answer.Hundred(), Pagetoken: token})
		switch {
		case err != nil:
			return nil, answer.Explain(response, err)
		case page == nil || page.Serviceids == nil:
			return nil, answer.ErrNoList
		}
		return page.Next, take(page.Serviceids)
	})
}

// ListAPIKeys gives the API keys of the account's service IDs to take, page by page.
func (a API) ListAPIKeys(ctx context.Context, account string, take func([]iamidentityv1.APIKey) error) error {
	api, err := a.newIdentities()
	if err != nil {
		return err
	}
	scope, kind := iamidentityv1.ListAPIKeysOptionsScopeAccountConst, iamidentityv1.ListAPIKeysOptionsTypeServiceidConst
	return answer.TokenPages(func(token *string) (*string, error) {
		page, response, err := api.ListAPIKeysWithContext(ctx, &iamidentityv1.ListAPIKeysOptions{AccountID: &account, Scope: &scope, Type: &kind, Pagesize: answer.Hundred(), Pagetoken: token})
		switch {
		case err != nil:
			return nil, answer.Explain(response, err)
		case page == nil || page.Apikeys == nil:
			return nil, answer.ErrNoList
		}
		return page.Next, take(page.Apikeys)
	})
}

// Policy is a policy with its attributes, by key.
type Policy struct {
	iampolicymanagementv1.V2PolicyTemplateMetaData
	About, Who map[string]string // what it is about, and for whom
}

// ListPolicies gives policies to take, page by page: of one kind (access or authorization) and of one identity, if these are set.
func (a API) ListPolicies(ctx context.Context, account string, kind, iamID *string, take func([]Policy) error) error {
	api, err := a.newPolicies()
	if err != nil {
		return err
	}
	p, err := api.NewV2PoliciesPager(&iampolicymanagementv1.ListV2PoliciesOptions{AccountID: &account, Type: kind, IamID: iamID})
	return answer.Pages(ctx, p, err, func(page []iampolicymanagementv1.V2PolicyTemplateMetaData) error {
		all := make([]Policy, 0, len(page))
		for _, p := range page {
			all = append(all, ReadPolicy(p))
		}
		return take(all)
	})
}

// ReadPolicy reads the attributes of a policy.
func ReadPolicy(p iampolicymanagementv1.V2PolicyTemplateMetaData) Policy {
	read := Policy{p, map[string]string{}, map[string]string{}}
	if p.Subject != nil {
		for _, a := range p.Subject.Attributes {
			read.Who[answer.Text(a.Key)] = fmt.Sprint(a.Value)
		}
	}
	if p.Resource != nil {
		for _, a := range p.Resource.Attributes {
			read.About[answer.Text(a.Key)] = fmt.Sprint(a.Value)
		}
	}
	return read
}
