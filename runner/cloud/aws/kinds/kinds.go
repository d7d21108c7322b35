// Package kinds is the table of what a cluster can consist of on AWS: what each kind is called, how it is listed, and what its list shows.
//
// The count, which proves that nothing is left, and the inventory, which looks through a whole account, are derived from it: a kind that is added
// here is counted and listed. What deletes must never import it. Deletions have look-ups of their own, so that a mistake in a list cannot
// hide a leftover from the deletion and from the count alike.
//
// It lists and never changes anything, and it never takes an unanswered query for an empty list. What of a list belongs to a cluster is for
// its callers to say.
package kinds

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// Resource is one resource as a list shows it.
type Resource struct {
	ID, Name string
	ARN      string // where its list tells it
	Tags     map[string]string
	In       []string // ids of what it is a part of: VPCs, its instance, its interface
	Holds    []Held   // what belongs to it and does not say so itself
	MadeAt   *time.Time
	Detail   string // what its price depends on
	Stopped  bool
	Gone     bool // it no longer exists, or ends with what it is in: AWS lists what was deleted for up to an hour
	Ending   bool // it is still there and ends by itself
}

// Held is what belongs to a resource, with what its price depends on.
type Held struct{ ID, Detail string }

// addIn adds what a resource is a part of.
func (r Resource) addIn(ids ...*string) Resource {
	r.In = append(r.In, presentIDs(ids...)...)
	return r
}

// Take takes what one page showed. An error of it ends the list.
type Take func([]Resource) error

func takeAll[T any](take Take, items []T, resourceOf func(T) Resource) error {
	page := make([]Resource, 0, len(items))
	for _, item := range items {
		page = append(page, resourceOf(item))
	}
	return take(page)
}

// pageTimeout limits one page with all its retries, in an account that is being throttled.
const pageTimeout = 5 * time.Minute

// pager is the interface of all paginators of the SDK.
type pager[Page, Options any] interface {
	HasMorePages() bool
	NextPage(context.Context, ...func(*Options)) (*Page, error)
}

// EachPage gives every page to take. A page may be short or empty: only the missing token of the last one ends the list.
func EachPage[Page, Options any](ctx context.Context, p pager[Page, Options], take func(*Page) error) error {
	for p.HasMorePages() {
		page, err := nextPage(ctx, p)
		if err != nil {
			return err
		}
		if err := take(page); err != nil {
			return err
		}
	}
	return nil
}

func nextPage[Page, Options any](ctx context.Context, p pager[Page, Options]) (*Page, error) {
	ctx, cancel := context.WithTimeout(ctx, pageTimeout)
	defer cancel()
	return p.NextPage(ctx)
}

// Once makes a call that has no pages.
func Once[In, Out, Options any](ctx context.Context, call func(context.Context, In, ...func(*Options)) (Out, error), in In) (Out, error) {
	ctx, cancel := context.WithTimeout(ctx, pageTimeout)
	defer cancel()
	return call(ctx, in)
}

// TagsOf converts the tags of any of the SDK's packages; nil if there are none.
func TagsOf[T any](tags []T, pair func(T) (key, value *string)) map[string]string {
	if len(tags) == 0 {
		return nil
	}
	out := make(map[string]string, len(tags))
	for _, t := range tags {
		if key, value := pair(t); key != nil {
			out[*key] = awssdk.ToString(value) // a tag without a value marks, too
		}
	}
	return out
}

// parseTime parses the one time that EC2 gives as text; nil: it is none.
func parseTime(text *string) *time.Time {
	at, err := time.Parse(time.RFC3339, strings.TrimSpace(awssdk.ToString(text)))
	if err != nil {
		return nil
	}
	return &at
}

// CodeOf returns AWS's code for an error; empty if there was no answer.
func CodeOf(err error) string {
	var api smithy.APIError
	if errors.As(err, &api) {
		return api.ErrorCode()
	}
	return ""
}

// StatusOf returns the HTTP status of a refused call, zero if there was no response.
func StatusOf(err error) int {
	var response *smithyhttp.ResponseError
	if errors.As(err, &response) {
		return response.HTTPStatusCode()
	}
	return 0
}

// IsAbsent reports that AWS answered and that what was asked for does not exist (any more). EC2 spells it InvalidVpcID.NotFound,
// NatGatewayNotFound, InvalidAllocationID.NotFound …
func IsAbsent(err error) bool {
	code := CodeOf(err)
	return strings.HasSuffix(code, ".NotFound") || slices.Contains([]string{
		"NoSuchEntity", "NoSuchBucket", "NoSuchHostedZone", "NotFound", "NoSuchTagSet", "LoadBalancerNotFound", "TargetGroupNotFound", "ListenerNotFound",
		"NatGatewayNotFound", "InvalidPlacementGroup.Unknown",
	}, code)
}
