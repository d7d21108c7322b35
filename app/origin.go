package app

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"

	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
)

// Origin is how and why something is requested.
type Origin struct {
	Source  policy.Source
	Why     string           // in the caller's words; required where the use case says so
	Instead lifecycle.Reason // a reason that the caller did not word; zero: Why
	Version int64            // of the cluster as the caller saw it; 0: any
	Once    string           // the caller's key: the same request with it is done once; empty: each request counts
	Cause   string           // the event that it follows from, whoever made it: the same again is done once; empty: see Once

	Repository *policy.Request     // the request with GitHub's permission, if it comes from a pull request; nil: it does not
	Reply      *clusters.ReplyOnce // is saved with the change; nil: the caller answers

	verdict *policy.Verdict // policy's answer, once it was asked
}

// IdempotencyKey returns the key that identifies the principal's request; without Once it is new each time.
func (d Origin) IdempotencyKey(p policy.Principal) string {
	if d.Once == "" {
		return db.NewID("ask")
	}
	return fmt.Sprintf("%x", sha256.Sum256([]byte(p.ID+"\n"+d.Once)))
}

// causeOf is what the request came from: the cause of its reply, the event, or else its idempotency key.
func (d Origin) causeOf(p policy.Principal) string {
	switch {
	case d.Reply != nil:
		return d.Reply.Cause
	case d.Cause != "":
		return d.Cause
	}
	return d.IdempotencyKey(p)
}

// StoreOrigin returns the origin as the store keeps it.
func (s *Service) StoreOrigin(origin Origin, p policy.Principal) clusters.Origin {
	name := s.NameOf(p.ID)
	if strings.HasPrefix(p.ID, string(profiles.SourceSlack)+":") && p.Name != "" { // nobody knows anybody by an id in Slack
		name = p.Name
	}
	said := clusters.Origin{Actor: p.ID, Name: name, Source: string(origin.Source), Why: origin.Why, Instead: origin.Instead, Version: origin.Version, Reply: origin.Reply}
	if origin.verdict != nil {
		said.Verdict = origin.verdict.Checks
	}
	return said
}

// Change is the result of a changed cluster.
type Change struct {
	Row     clusters.Row
	Message string // what changed, for people
	Capped  bool   // the profile's maximum cut it short
}

// maxReason is how many bytes of a reason the audit trail keeps.
const maxReason = 500

// CheckReason returns the action with its reason as the audit trail keeps it. An error: a required reason is empty, or it is too
// long.
func CheckReason(d Origin, required bool) (Origin, error) {
	d.Why = strings.TrimSpace(strings.ReplaceAll(d.Why, "\x00", ""))
	if d.Why == "" && !required {
		return d, nil
	}
	if d.Why == "" || len(d.Why) > maxReason {
		return d, &Error{Kind: Invalid, Message: "Add a reason for the audit trail.", Fields: []Field{ProblemOf("reason", messages.Problem{fmt.Sprintf("it has %d bytes", len(d.Why)), []string{fmt.Sprintf("1 to %d bytes", maxReason)}})}}
	}
	return d, nil
}

// clusterAfter returns the cluster after a change. contradicts is the message for a conflict in the store; a change by somebody else in
// between is Stale.
func (s *Service) clusterAfter(ctx context.Context, row clusters.Row, err error, contradicts string) (clusters.Row, error) {
	refused := Unaffordable(err)
	switch {
	case refused != nil:
		return clusters.Row{}, refused
	case errors.Is(err, db.ErrStale):
		return clusters.Row{}, Fail(Stale, messages.ChangedMeanwhile(row.Name))
	case errors.Is(err, db.ErrConflict) && contradicts != "":
		return clusters.Row{}, Fail(Conflict, contradicts)
	case err != nil:
		return clusters.Row{}, fmt.Errorf("change cluster: %w", err)
	}
	now, err := s.store.Cluster(ctx, row.ID)
	if err != nil {
		return clusters.Row{}, fmt.Errorf("read cluster: %w", err)
	}
	return now, nil
}

// checkWanted returns an error if the cluster is going away or gone. act is the request.
func checkWanted(row clusters.Row, act policy.Act) error {
	if obstacleTo(policy.VerbDestroy, row) == "" {
		return nil
	}
	return Fail(Conflict, messages.Unwanted(row.Card, act))
}

// IsGone reports whether nothing is left of a cluster.
func IsGone(row clusters.Row) bool { return row.Phase == lifecycle.Released }
