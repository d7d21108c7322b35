package app

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/internal/duration"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store/clusters"
)

// Destroy starts a cluster's teardown now and returns its job. A repeated call returns the same job; for a cluster that is gone
// it changes nothing and succeeds. Destroying has the message for both.
func (s *Service) Destroy(ctx context.Context, p policy.Principal, ref string, origin Origin) (row clusters.Row, job string, err error) {
	row, origin, err = s.Authorize(ctx, p, ref, policy.ActDestroy, origin)
	if err != nil {
		return clusters.Row{}, "", err
	}
	if origin, err = CheckReason(origin, false); err != nil {
		return clusters.Row{}, "", err
	}
	if IsGone(row) {
		return row, row.JobID, nil
	}
	job, err = s.store.Destroy(ctx, row.ID, s.StoreOrigin(origin, p))
	row, err = s.clusterAfter(ctx, row, err, fmt.Sprintf("%s cannot be destroyed in its current state: %s (%s).", row.Card.Name, row.Card.Status, row.Card.Phase))
	return row, job, err
}

// Span is how long something should last. Exactly one is set: a duration, a moment, or, for a hold alone, tonight.
type Span struct {
	For     time.Duration
	Until   time.Time
	Tonight bool // until the next working hours begin
}

// checkSpan returns an error if not exactly one way is given, or if the length is out of bounds.
func (s Span) checkSpan() error {
	var wrong []Field
	switch {
	case s.Tonight: // of a hold, which keeps no end away; nothing else lasts so long
		wrong = append(wrong, ProblemOf("tonight", messages.Problem{"It can only be given alone, and to a hold.", []string{"for, hours or until, without tonight"}}))
	case s.For != 0 && !s.Until.IsZero():
		wrong = append(wrong, ProblemOf("until", messages.SpanGivenTwice))
	case s.For == 0 && s.Until.IsZero():
		wrong = append(wrong, ProblemOf("for", messages.Problem{"give a duration or until", []string{"for, such as " + duration.Accepted, "until, a time in the future"}}))
	case s.For < 0 || s.For > mostHours*time.Hour:
		wrong = append(wrong, ProblemOf("for", messages.LifetimeOutOfBounds(s.For, time.Minute, mostHours*time.Hour)))
	}
	if len(wrong) > 0 {
		return &Error{Kind: Invalid, Message: messages.HowLong, Fields: wrong}
	}
	return nil
}

// Extend moves a cluster's end later, at most up to the profile's maximum. An end given as a moment is meant for the cluster as
// it is now: if somebody else moves it at the same time, the result is Stale.
func (s *Service) Extend(ctx context.Context, p policy.Principal, ref string, span Span, origin Origin) (Change, error) {
	row, origin, err := s.Authorize(ctx, p, ref, policy.ActExtend, origin)
	if err != nil {
		return Change{}, err
	}
	if err := span.checkSpan(); err != nil {
		return Change{}, err
	}
	if err := checkWanted(row, policy.ActExtend); err != nil {
		return Change{}, err
	}
	by := s.policy.Scale(span.For)
	if !span.Until.IsZero() {
		by = span.Until.Sub(row.Ends.TTL)
		if origin.Version == 0 {
			origin.Version = row.Version
		}
	}
	if _, check := policy.JudgeExtend(row.Ends, by); check.Result == policy.Fail {
		if left := row.Ends.Latest().After(row.Ends.TTL); left && !span.Until.IsZero() { // a time was asked for, so a time is what would be accepted
			check.Accept = fmt.Sprintf("after %s, at most until %s", chatops.Time(row.Ends.TTL), chatops.Time(row.Ends.Latest()))
		}
		return Change{}, refusalOf(span, check)
	}
	said := s.StoreOrigin(origin, p)
	said.Afford = s.affordCheck(p, row, policy.ActExtend)
	out, err := s.store.Extend(ctx, row.ID, by, said)
	now, err := s.clusterAfter(ctx, row, err, messages.EndedMeanwhile(row.Name, policy.ActExtend))
	if err != nil {
		return Change{}, err
	}
	_, check := policy.JudgeExtend(out.Before, by)
	return Change{Row: now, Message: joinSentences(messages.CheckText(check), out.Warning), Capped: out.Capped}, nil
}

// Hold keeps a cluster from ending before a moment, whatever happens to its pull request; nothing passes the profile's maximum.
// The origin's reason is required. Tonight is no end: the cluster stays awake until the next working hours, see KeepAwake.
func (s *Service) Hold(ctx context.Context, p policy.Principal, ref string, span Span, origin Origin) (Change, error) {
	if span == (Span{Tonight: true}) {
		return s.KeepAwake(ctx, p, ref, origin)
	}
	row, origin, err := s.Authorize(ctx, p, ref, policy.ActHold, origin)
	if err != nil {
		return Change{}, err
	}
	if err := span.checkSpan(); err != nil {
		return Change{}, err
	}
	if origin, err = CheckReason(origin, true); err != nil {
		return Change{}, err
	}
	if err := checkWanted(row, policy.ActHold); err != nil {
		return Change{}, err
	}
	now, err := s.store.Now(ctx)
	if err != nil {
		return Change{}, fmt.Errorf("read the clock: %w", err)
	}
	until := span.Until
	if until.IsZero() {
		until = now.Add(s.policy.Scale(span.For))
	}
	check := policy.JudgeHold(row.Ends, until, now)
	capped := until.After(row.Ends.Max) && row.Ends.Latest().Equal(row.Ends.Max)
	if check.Result == policy.Fail && !capped {
		return Change{}, refusalOf(span, check)
	}
	if capped {
		until = row.Ends.Max
	}
	said := s.StoreOrigin(origin, p)
	said.Afford = s.affordCheck(p, row, policy.ActHold)
	out, err := s.store.Hold(ctx, row.ID, until, said)
	held, err := s.clusterAfter(ctx, row, err, messages.EndedMeanwhile(row.Name, policy.ActHold))
	if err != nil {
		return Change{}, err
	}
	text := messages.CheckText(check)
	if capped {
		text = messages.HeldToMaximum(until)
	}
	return Change{Row: held, Message: joinSentences(text, out.Warning), Capped: capped}, nil
}

// ReleaseHold removes the hold; the other ends count again. Without a hold it changes nothing.
func (s *Service) ReleaseHold(ctx context.Context, p policy.Principal, ref string, origin Origin) (Change, error) {
	row, origin, err := s.Authorize(ctx, p, ref, policy.ActHold, origin)
	if err != nil {
		return Change{}, err
	}
	if err := checkWanted(row, policy.ActHold); err != nil {
		return Change{}, err
	}
	_, err = s.store.Hold(ctx, row.ID, time.Time{}, s.StoreOrigin(origin, p))
	now, err := s.clusterAfter(ctx, row, err, row.Name+" was destroyed in the meantime.")
	if err != nil {
		return Change{}, err
	}
	return Change{Row: now, Message: messages.HoldReleased(now.Card, !row.Ends.Hold.IsZero())}, nil
}

// refusalOf returns a failed check as an error of the field that was given.
func refusalOf(span Span, check policy.Check) error {
	field := Field{Name: "for", Detail: check.Message, Accept: []string{check.Accept}, Told: true}
	if !span.Until.IsZero() {
		field.Name = "until"
	}
	return &Error{Kind: Invalid, Message: messages.CheckText(check), Fields: []Field{field}}
}

// joinSentences joins two sentences; either may be empty.
func joinSentences(a, b string) string { return strings.TrimSpace(a + " " + b) }

// Scale sets the number of workers of a ready cluster, within the bounds that were frozen with it. The number that is already
// wanted returns the same job.
func (s *Service) Scale(ctx context.Context, p policy.Principal, ref string, replicas int, origin Origin) (row clusters.Row, job string, err error) {
	row, origin, err = s.Authorize(ctx, p, ref, policy.ActScale, origin)
	if err != nil {
		return clusters.Row{}, "", err
	}
	if origin, err = CheckReason(origin, false); err != nil {
		return clusters.Row{}, "", err
	}
	if err := checkScalable(row, replicas); err != nil {
		return clusters.Row{}, "", err
	}
	said := s.StoreOrigin(origin, p)
	said.Afford = s.affordCheck(p, row, policy.ActScale)
	job, err = s.store.Scale(ctx, row.ID, replicas, said)
	row, err = s.clusterAfter(ctx, row, err, row.Name+" is no longer ready, so its workers cannot be scaled.")
	return row, job, err
}

func checkScalable(row clusters.Row, replicas int) error {
	least, most, obstacle := row.WorkersLeast, row.WorkersMost, obstacleTo(policy.VerbScale, row)
	switch {
	case obstacle == policy.FixedWorkers:
		return Fail(Conflict, fmt.Sprintf("The workers of %s cannot be scaled: its profile %s has a fixed number of workers. "+
			"Create a cluster of a profile whose workers can be scaled.", row.Card.Name, row.Card.Profile))
	case least != nil && most != nil && (replicas < *least || replicas > *most):
		return &Error{Kind: Invalid, Message: fmt.Sprintf("%s may have %d to %d workers, not %d; nothing was changed.", row.Name, *least, *most, replicas), Fields: []Field{
			ProblemOf("replicas", messages.Problem{fmt.Sprintf("%d is out of bounds", replicas), []string{fmt.Sprintf("%d to %d", *least, *most)}}),
		}}
	case obstacle != "":
		return Fail(Conflict, fmt.Sprintf("%s is %s (%s). Workers can be scaled only while the cluster is READY.", row.Card.Name, row.Card.Status, row.Card.Phase))
	}
	return nil
}
