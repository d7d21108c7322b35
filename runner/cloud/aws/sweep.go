package aws

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/ocpctl/ocpctl/runner/cloud"
)

// Sweep deletes what the installer's destroy leaves behind when its create was cut short, and ccoctl's resources, which it
// never touches: the private zone that was never tagged, public records without a private twin, the bootstrap bucket,
// the copied AMI with its snapshot, instance profiles and roles, ccoctl's identity provider, roles and bucket. Everything
// by exact name and only for recorded identities; call it after destroy exited.
//
// What bears the name and another's tags, or needs a tag and has none, is left alone and told in the error; what merely
// looks alike is left to Verify. The answer names what was deleted, also when something else failed.
func (c *Client) Sweep(ctx context.Context, t cloud.Target) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, sweepTimeout) // an answer that never comes must not keep the attempt for ever
	defer cancel()
	account, err := c.Account(ctx)
	if err != nil {
		return nil, err
	}
	if want := recordedAccount(t, account); want != account {
		return nil, fmt.Errorf("sweep: these credentials belong to account %s, the cluster to %s", account, want)
	}
	s := &sweep{Client: c, id: identityOf(t)}
	if len(s.id.infraIDs) > 0 { // before that nothing was in DNS
		s.zones(ctx, t.Domain())
		s.publicRecords(ctx, t)
	}
	for _, infraID := range s.id.infraIDs {
		s.bucket(ctx, bootstrapBucket(infraID))
	}
	if s.nodesGone(ctx, t) {
		s.afterNodes(ctx, t)
	}
	return s.deleted, errors.Join(s.errs...)
}

// nodesGone reports that no instance of the cluster is left. What nodes and operators work with must outlive them: they
// still delete what they made, and a cluster that lives after all must not be broken.
func (s *sweep) nodesGone(ctx context.Context, t cloud.Target) bool {
	var left []string
	for _, infraID := range s.id.infraIDs {
		for _, region := range regions(t, false) {
			found := s.ask(ctx, s.ec2Question(region, instances, "tag:"+kubernetesTag(infraID), owned))
			if found.query.Err != "" {
				s.errs = append(s.errs, fmt.Errorf("look for instances of %s in %s: %s", infraID, region, found.query.Err))
				return false
			}
			left = append(left, each(found.things, func(t thing) string { return t.id })...)
		}
	}
	if len(left) > 0 {
		s.errs = append(s.errs, fmt.Errorf("%s are still there: the cluster's roles, images and remaining buckets wait for them", strings.Join(left, ", ")))
	}
	return len(left) == 0
}

// afterNodes deletes what may go only when no instance is left.
func (s *sweep) afterNodes(ctx context.Context, t cloud.Target) {
	if len(s.id.infraIDs) > 0 {
		s.registryBuckets(ctx)
	}
	for _, recorded := range t.Identities {
		if infraID := recorded.InfraID; infraID != "" {
			s.images(ctx, cmp.Or(recorded.Region, t.Region), infraID)
			s.nodeIdentities(ctx, infraID)
		}
		if name := recorded.CCOName; name != "" {
			s.providers(ctx, name)
			s.ccoRoles(ctx, name)
			s.bucket(ctx, oidcBucket(name))
		}
	}
}

type sweep struct {
	*Client
	id      identity
	deleted []string
	errs    []error
}

// fail remembers an error. What is not there any more is none.
func (s *sweep) fail(doing string, err error) {
	if err != nil && !notFound(err) {
		s.errs = append(s.errs, fmt.Errorf("%s: %w", doing, err))
	}
}

// refuse tells what was left alone and why.
func (s *sweep) refuse(format string, args ...any) {
	s.errs = append(s.errs, fmt.Errorf(format+": it is left alone", args...))
}

// did remembers a deletion, or why it failed.
func (s *sweep) did(what string, err error) {
	s.fail("delete "+what, err)
	if err == nil {
		s.deleted = append(s.deleted, what)
	}
}
