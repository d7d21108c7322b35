package kinds

import (
	"context"
	"slices"

	"github.com/IBM/platform-services-go-sdk/globalsearchv2"
	"github.com/IBM/platform-services-go-sdk/globaltaggingv1"
	"github.com/IBM/platform-services-go-sdk/resourcemanagerv2"

	"github.com/ocpctl/ocpctl/runner/cloud/ibmcloud/answer"
)

// GroupDeleted is the state of a resource group that is gone.
const GroupDeleted = "DELETED"

// ListGroups returns the account's resource groups. The call has no pages.
func (a API) ListGroups(ctx context.Context, account string) ([]resourcemanagerv2.ResourceGroup, error) {
	api, err := a.ResourceManager()
	if err != nil {
		return nil, err
	}
	list, response, err := api.ListResourceGroupsWithContext(ctx, &resourcemanagerv2.ListResourceGroupsOptions{AccountID: &account})
	switch {
	case err != nil:
		return nil, answer.Explain(response, err)
	case list == nil || list.Resources == nil:
		return nil, answer.ErrNoList
	}
	return slices.DeleteFunc(list.Resources, func(g resourcemanagerv2.ResourceGroup) bool { return answer.Text(g.State) == GroupDeleted }), nil
}

// Hit is a resource that Global Search names. It is an index, which is late and keeps what is gone.
type Hit struct {
	CRN, Name, Group string // Group: id of its resource group
	Tags             []string
}

// Search gives every hit of a query to take, page by page.
func (a API) Search(ctx context.Context, account, query string, fields []string, take func([]Hit) error) error {
	api, err := a.newSearch()
	if err != nil {
		return err
	}
	options := &globalsearchv2.SearchOptions{Query: &query, Fields: fields, AccountID: &account, Limit: answer.Hundred()}
	for {
		page, response, err := api.SearchWithContext(ctx, options)
		switch {
		case err != nil:
			return answer.Explain(response, err)
		case page == nil || page.Items == nil:
			return answer.ErrNoList
		}
		hits := make([]Hit, 0, len(page.Items))
		for _, item := range page.Items {
			hits = append(hits, readHit(item))
		}
		if err := take(hits); err != nil {
			return err
		}
		if len(page.Items) == 0 || answer.Text(page.SearchCursor) == "" {
			return nil
		}
		// The cursor says what is searched for.
		options = &globalsearchv2.SearchOptions{SearchCursor: page.SearchCursor, AccountID: &account, Limit: answer.Hundred()}
	}
}

func readHit(item globalsearchv2.ResultItem) Hit {
	hit := Hit{CRN: answer.Text(item.CRN)}
	hit.Name, _ = item.GetProperty("name").(string)
	hit.Group, _ = item.GetProperty("resource_group_id").(string)
	tags, _ := item.GetProperty("tags").([]any)
	for _, tag := range tags {
		if text, ok := tag.(string); ok {
			hit.Tags = append(hit.Tags, text)
		}
	}
	return hit
}

// ListTags gives the names of the account's user tags to take, page by page: a tag stays when the last resource with it is gone.
func (a API) ListTags(ctx context.Context, take func(names []string) error) error {
	api, err := a.newTagging()
	if err != nil {
		return err
	}
	kind := globaltaggingv1.ListTagsOptionsTagTypeUserConst
	return answer.CountedPages(func(_, listed int64) (int, *int64, error) {
		page, response, err := api.ListTagsWithContext(ctx, &globaltaggingv1.ListTagsOptions{TagType: &kind, Offset: &listed, Limit: answer.Hundred()})
		switch {
		case err != nil:
			return 0, nil, answer.Explain(response, err)
		case page == nil:
			return 0, nil, answer.ErrNoList
		}
		names := make([]string, 0, len(page.Items))
		for _, t := range page.Items {
			names = append(names, answer.Text(t.Name))
		}
		return len(page.Items), page.TotalCount, take(names)
	})
}
