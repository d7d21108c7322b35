package count

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/runner/cloud/aws/kinds"
)

// iamRoleKinds are the node kinds for which the installer creates a role and a profile.
var iamRoleKinds = []string{"master", "worker", "bootstrap"}

// iamOf queries the roles and profiles of one infraID by their exact names: the tagging API does not index profiles, and roles only
// partly.
func (c *Client) iamOf(infraID string) []question {
	var out []question
	for _, kind := range iamRoleKinds {
		out = append(out, c.identityByID(kinds.Role, infraID+"-"+kind+"-role"), c.identityByID(kinds.Profile, infraID+"-"+kind+"-profile"))
	}
	return out
}

// identityByID queries one.
func (c *Client) identityByID(kind kinds.IAM, id string) question {
	return question{
		service: "iam", call: kind.GetCall, region: globalRegion, asked: "name=" + id,
		ask: func(ctx context.Context) ([]thing, error) {
			found, err := kind.Get(ctx, c.iam, id)
			if err != nil {
				return nil, err
			}
			return []thing{iamThing(kind, found)}, nil
		},
	}
}

// identitiesNamed lists those of a kind whose names begin with one of the prefixes and that do not have another cluster's tags: the installer
// makes three roles, ccoctl one per operator, and Mint mode a user per operator. Every listed name is asked for, because lists lag and
// contain no tags. A refusal fails the whole query.
func (c *Client) identitiesNamed(kind kinds.IAM, id identity, prefixes []string) question {
	return question{
		service: "iam", call: kind.ListCall, region: globalRegion, asked: "name=" + strings.Join(prefixes, "*,") + "*",
		ask: func(ctx context.Context) ([]thing, error) {
			var likely []string
			err := kind.List(ctx, c.iam, func(page []kinds.Resource) error {
				for _, r := range page {
					if hasAnyPrefix(r.Name, prefixes) {
						likely = append(likely, r.ID)
					}
				}
				return nil
			})
			if err != nil {
				return nil, err
			}
			var out []thing
			for _, name := range likely {
				found, err := kind.Get(ctx, c.iam, name)
				switch {
				case err != nil && kinds.IsAbsent(err):
				case err != nil:
					return nil, err
				case id.ownershipOf(found.Tags) != anothers:
					out = append(out, iamThing(kind, found))
				}
			}
			return out, nil
		},
	}
}

// providersOf looks for ccoctl's identity provider, whose host is ccoctl's bucket of this name, in any region: bucket names are global, so no
// other installation can have one.
func (c *Client) providersOf(ccoName string) question {
	host := oidcBucket(ccoName) + ".s3."
	return question{
		service: "iam", call: kinds.Provider.ListCall, region: globalRegion, asked: "host=" + host + "*",
		ask: func(ctx context.Context) (out []thing, err error) {
			err = kinds.Provider.List(ctx, c.iam, func(page []kinds.Resource) error {
				ours := slices.DeleteFunc(page, func(r kinds.Resource) bool { return !strings.Contains(r.ID, ":oidc-provider/"+host) })
				out = append(out, convertEach(ours, func(r kinds.Resource) thing { return iamThing(kinds.Provider, r) })...)
				return nil
			})
			return out, err
		},
	}
}

// iamThing says who can remove it: each of these refuses its deletion while something depends on it.
func iamThing(kind kinds.IAM, r kinds.Resource) thing {
	r.Name = r.ID
	return thing{kind: kind.Noun, Resource: r, free: "an IAM administrator of the account", command: "aws iam " + fmt.Sprintf(kind.Delete, r.ID)}
}
