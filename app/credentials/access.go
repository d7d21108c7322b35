package credentials

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/internal/duration"
	"github.com/ocpctl/ocpctl/internal/kinds"
	"github.com/ocpctl/ocpctl/internal/secret"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store/access"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
)

// Want is what somebody wants of a kubeconfig, or of an account of the console.
type Want struct {
	Role     policy.ClusterRole // empty: the most that they may have
	Lifetime string             // e.g. 8h; empty: app.UsualAccess, or less if something limits it
	Renew    bool               // a new one, even if there is one
	Console  bool               // an account of the console instead of a kubeconfig
	Run      policy.PipelineRun // in which the principal is, for a service account's token, which does not say
}

// Given is somebody's access to a cluster.
type Given struct {
	Cluster    string // name
	Namespace  string // on its hub; empty: it is on none
	Access     access.Row
	Kubeconfig secret.Text // empty: it is being made, and the same request gives it later
	Password   secret.Text // the same for an account of the console; empty too if its reader signs in through the server
	ConsoleURL string
}

// IsMade reports that it can be used.
func (g Given) IsMade() bool { return g.Access.State == access.Ready }

// RetryAfter is when to ask again for a kubeconfig that is being made.
const RetryAfter = time.Second

// shownFor is how long an access that ended stays in the list.
const shownFor = 24 * time.Hour

// GiveAccess returns a kubeconfig, or an account of the console, that was made for the principal, or asks for one: a runner makes it. The principal belongs to the
// cluster's team, is an admin, or is somebody with whom the cluster is shared for use.
func (s *Service) GiveAccess(ctx context.Context, p policy.Principal, ref string, want Want, origin app.Origin) (Given, error) {
	row, given, origin, err := s.askForAccess(ctx, p, ref, want, origin)
	if err != nil || given.State == access.Asked {
		return Given{Cluster: row.Name, Namespace: row.HubNamespace(), Access: given}, err
	}
	out := Given{Cluster: row.Name, Access: given, ConsoleURL: row.Outputs.ConsoleURL}
	if given.Kind == access.Console {
		out.Password, err = s.handOutPassword(ctx, row, given, s.core.StoreOrigin(origin, p))
		return out, err
	}
	out.Kubeconfig, err = s.handOut(ctx, row, given, s.core.StoreOrigin(origin, p))
	return out, err
}

// checkKind refuses what clusters of this kind do not have, with the reason and what to do instead.
func checkKind(row clusters.Row, a kinds.Ability, lacks, next string) error {
	if kinds.Can(row.Provisioner, a) {
		return nil
	}
	return app.Fail(app.Conflict, fmt.Sprintf("%s has %s: %s. %s", row.Name, lacks, kinds.WhyNot(row.Provisioner), next))
}

// lookAgain is how often an access that is being made is looked for.
const lookAgain = time.Second

// AwaitAccess is GiveAccess for somebody who waits for it for a while.
func (s *Service) AwaitAccess(ctx context.Context, p policy.Principal, ref string, want Want, origin app.Origin, patience time.Duration) (Given, error) {
	given, err := s.GiveAccess(ctx, p, ref, want, origin)
	if err != nil || given.IsMade() {
		return given, err
	}
	if asked, err := s.awaitAccess(ctx, given.Access, patience); err != nil || asked.State == access.Asked {
		return given, err
	}
	want.Renew = false // the one that was made is meant
	return s.GiveAccess(ctx, p, ref, want, origin)
}

// awaitAccess waits for a while until an access that was asked for is made.
func (s *Service) awaitAccess(ctx context.Context, asked access.Row, patience time.Duration) (access.Row, error) {
	waited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	ticks := time.NewTicker(lookAgain)
	defer ticks.Stop()
	for asked.State == access.Asked {
		select {
		case <-waited.Done():
			return asked, nil
		case <-ticks.C:
		}
		var err error
		if asked, err = s.store.Access.One(ctx, asked.Cluster, asked.ID); err != nil {
			return asked, fmt.Errorf("wait for a kubeconfig: %w", err)
		}
	}
	return asked, nil
}

// askForAccess returns an access that serves the request. An error: it may not be had, or could not be made. If the principal's right changed
// between its check and the write, both are repeated once: then it is refused, or holds.
func (s *Service) askForAccess(ctx context.Context, p policy.Principal, ref string, want Want, origin app.Origin) (clusters.Row, access.Row, app.Origin, error) {
	row, given, by, err := s.askOnce(ctx, p, ref, want, origin)
	if errors.Is(err, db.ErrStale) {
		row, given, by, err = s.askOnce(ctx, p, ref, want, origin)
	}
	if errors.Is(err, db.ErrStale) {
		err = app.Fail(app.Busy, fmt.Sprintf("Who may use %s is being changed at this moment. Try again.", row.Name))
	}
	return row, given, by, err
}

func (s *Service) askOnce(ctx context.Context, p policy.Principal, ref string, want Want, origin app.Origin) (clusters.Row, access.Row, app.Origin, error) {
	row, right, origin, err := s.core.AuthorizeAccess(ctx, p, ref, want.Role, origin)
	if err == nil && want.Console && p.OfPipeline() {
		err = app.Fail(app.Denied, fmt.Sprintf("A console account is for a person, and you are a job of a pipeline. Jobs use a kubeconfig: ocpctl kubeconfig %s.", row.Name))
	}
	if err != nil {
		return row, access.Row{}, origin, err
	}
	if want.Console {
		if err := checkKind(row, kinds.Console, "no accounts for a console", "Use a kubeconfig: ocpctl kubeconfig "+row.Name+"."); err != nil {
			return row, access.Row{}, origin, err
		}
	}
	if err := s.core.CheckReachable(ctx, row); err != nil {
		return row, access.Row{}, origin, err
	}
	now, err := s.store.Now(ctx)
	if err != nil {
		return row, access.Row{}, origin, fmt.Errorf("read the clock: %w", err)
	}
	run, job := s.core.Asker(p, want.Run)
	wanted, err := s.accessFor(row, want, now)
	if err != nil {
		return row, access.Row{}, origin, err
	}
	wanted.Reader, wanted.ReaderName, wanted.Role, wanted.Right = p.ID, nameOf(p), access.Role(right.Role), right.By
	wanted.Seen, wanted.Team = row.Version, row.Team
	if want.Console {
		wanted.Kind, wanted.OpenID = access.Console, s.openID
	}
	var many *access.TooMany
	given, err := s.store.AskAccess(ctx, row.ID, wanted, run, job, s.core.StoreOrigin(origin, p))
	switch {
	case app.RunRefusal(err) != nil:
		return row, given, origin, app.RunRefusal(err)
	case errors.As(err, &many) && many.Until > 0:
		return row, given, origin, &app.Error{Kind: app.Busy, Message: sayAskedTooOften(row.Name, many.Most, many.Until, run != nil), Later: many.Until}
	case errors.As(err, &many):
		return row, given, origin, app.Fail(app.Conflict, sayTooManyKubeconfigs(row.Name, many.Of, many.Most, run != nil))
	case errors.Is(err, db.ErrConflict):
		return row, given, origin, app.Fail(app.Conflict, messages.EndedMeanwhile(row.Name, policy.ActKubeconfig))
	case err != nil:
		return row, given, origin, fmt.Errorf("ask for a kubeconfig: %w", err)
	case given.State == access.Failed:
		return row, given, origin, app.Fail(app.Conflict, sayNotMade(row.Name, given))
	}
	return row, given, origin, nil
}

// accessFor says which access serves a request: one that lasts for at least a quarter of what a new one would.
func (s *Service) accessFor(row clusters.Row, want Want, now time.Time) (out access.Wanted, err error) {
	out.Renew, out.Lifetime, out.Blind = want.Renew, s.core.UsualAccess(row), app.BlindAccess
	if want.Lifetime != "" {
		asked, ok := duration.ParseHours(want.Lifetime)
		most := s.core.MostAccess(row)
		switch {
		case !ok:
			return out, badLifetime(messages.NotADuration(want.Lifetime))
		case asked < app.LeastAccess || asked > most:
			return out, badLifetime(messages.LifetimeOutOfBounds(asked, app.LeastAccess, most))
		}
		out.Lifetime, out.Most, out.Blind = asked, asked, 0
	}
	out.Least = min(out.Lifetime, max(row.DestroyAt.Sub(now), 0)) / 4
	return out, nil
}

func badLifetime(problem messages.Problem) error {
	return &app.Error{Kind: app.Invalid, Message: messages.CannotGiveAccess, Fields: []app.Field{app.ProblemOf("lifetime", problem)}}
}

func nameOf(p policy.Principal) string {
	if p.Name != "" {
		return p.Name
	}
	return p.ID
}

// Accesses returns who has access to a cluster that the principal may see, and whose access ended in the last day. mine reports those
// of the principal.
func (s *Service) Accesses(ctx context.Context, p policy.Principal, ref string) (row clusters.Row, list []access.Row, mine map[string]bool, err error) {
	if row, err = s.core.Cluster(ctx, p, ref); err != nil {
		return row, nil, nil, err
	}
	if list, err = s.store.Access.List(ctx, row.ID, shownFor); err != nil {
		return row, nil, nil, err
	}
	mine, err = s.store.Access.Mine(ctx, row.ID, p.ID)
	return row, list, mine, err
}

// Revoke revokes an access to a cluster, which its reader may do, and whoever may share the cluster. A repeated call changes nothing.
// The access is named by its id, or by its cluster's if the principal has only one.
func (s *Service) Revoke(ctx context.Context, p policy.Principal, ref, id string, origin app.Origin) error {
	row, err := s.core.Cluster(ctx, p, ref)
	if err != nil {
		return err
	}
	mine, err := s.store.Access.Mine(ctx, row.ID, p.ID)
	if err != nil {
		return err
	}
	if id == row.Name || id == row.ID {
		if id, err = s.onlyOwn(ctx, row, mine); err != nil {
			return err
		}
	}
	act := policy.ActShare
	switch {
	case mine[id] && p.OfPipeline():
		act = policy.ActKubeconfig // the principal of other runs may be the same, so the cluster has to be the run's own
	case mine[id]:
		act = policy.ActSee
	}
	if row, origin, err = s.core.Authorize(ctx, p, row.ID, act, origin); err != nil {
		return err
	}
	if origin, err = app.CheckReason(origin, false); err != nil {
		return err
	}
	if origin.Why == "" {
		origin.Why = nameOf(p) + " revoked it"
	}
	err = s.store.Access.Revoke(ctx, row.ID, id, s.core.StoreOrigin(origin, p))
	if errors.Is(err, db.ErrNotFound) {
		return app.Fail(app.NotFound, fmt.Sprintf("%s has no kubeconfig %.40q. To see who has access: ocpctl access list %s.", row.Name, id, row.Name))
	}
	if err != nil {
		return fmt.Errorf("revoke an access: %w", err)
	}
	return nil
}

// onlyOwn returns the id of the principal's only valid access to a cluster. Conflict: there are several.
func (s *Service) onlyOwn(ctx context.Context, row clusters.Row, mine map[string]bool) (string, error) {
	all, err := s.store.Access.List(ctx, row.ID, 0)
	if err != nil {
		return "", err
	}
	var own []string
	for _, one := range all {
		if mine[one.ID] && one.RevokedAt == nil {
			own = append(own, one.ID)
		}
	}
	switch len(own) {
	case 0:
		return "", app.Fail(app.NotFound, fmt.Sprintf("You have no kubeconfig or console account of %s. To see who has access: ocpctl access list %[1]s.", row.Name))
	case 1:
		return own[0], nil
	}
	return "", app.Fail(app.Conflict, fmt.Sprintf("You have %d kubeconfigs and console accounts of %s. Name the one to revoke: %s.", len(own), row.Name, strings.Join(own, ", ")))
}

// sayNotMade tells somebody that what they asked for could not be made, and why.
func sayNotMade(name string, a access.Row) string {
	command, why := messages.AccessCommand(a.Kind == access.Console, false), strings.TrimSuffix(cmp.Or(a.Trouble, "the runner did not say why"), ".")
	return fmt.Sprintf("The %[3]s of %[1]s could not be made: %[2]s. Try again in ten minutes, or now with `ocpctl %[4]s %[1]s --renew`. "+
		"If it fails again, ask a platform admin to look at the newest ACCESS job of %[1]s.", name, why, messages.AccessKind(a.Kind == access.Console), command)
}

// sayTooManyKubeconfigs tells somebody that there are as many valid kubeconfigs of a cluster as there may be: of their own, of all jobs of their
// run (of is "run"), or of all readers ("cluster"). job: a job of a pipeline asks.
func sayTooManyKubeconfigs(name, of string, most int, job bool) string {
	have := fmt.Sprintf("You have %d valid kubeconfigs of %s, and nobody may have more.", most, name)
	switch {
	case of == "cluster":
		have = fmt.Sprintf("%s has %d valid kubeconfigs, and no cluster may have more.", name, most)
	case of == "run":
		have = fmt.Sprintf("The jobs of this run have %d valid kubeconfigs of %s, and no run may have more.", most, name)
	case job:
		have = fmt.Sprintf("This job has %d valid kubeconfigs of %s, and no job may have more.", most, name)
	}
	if job {
		return have + " Ask for one kubeconfig in each job and keep its file for all steps, without --renew. Kubeconfigs end with their jobs; --lifetime makes them end earlier."
	}
	return have + fmt.Sprintf(" Use one of them, or revoke one: ocpctl access list %s.", name)
}

// sayAskedTooOften tells somebody that they asked for too many kubeconfigs within an hour.
func sayAskedTooOften(name string, most int, later time.Duration, job bool) string {
	use := "Use the last one that you got."
	if job {
		use = "Ask for one kubeconfig in each job and keep its file for all steps, without --renew."
	}
	return fmt.Sprintf("You asked for %d kubeconfigs of %s within an hour, and nobody may ask for more. %s Try again in %s.", most, name, use, duration.Format(max(later.Round(time.Minute), time.Minute)))
}
