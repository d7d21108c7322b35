package command

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/humanize"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/progress"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/table"
	"github.com/ocpctl/ocpctl/internal/duration"
	"github.com/ocpctl/ocpctl/internal/kinds"
	"github.com/ocpctl/ocpctl/internal/price"
)

// statusCell shows a cluster's status with a colour.
func statusCell(c v1.Cluster) table.Cell {
	text := progress.Status(c)
	if c.InstallFailed && c.Status == v1.DESTROYED {
		text = "FAILED, cleaned up"
		if c.FailReason != "" {
			text += ": " + humanize.Line(c.FailReason)
		}
	}
	moving := c.Status == v1.CREATING || c.Status == v1.DESTROYING
	if moving && c.Progress.Percent > 0 {
		text += fmt.Sprintf(" %d %%", c.Progress.Percent)
	}
	if c.Pool != "" && c.ClaimedAt.IsZero() && c.Status == v1.READY {
		text += ", waits in its pool"
	}
	if c.Position > 0 {
		text += fmt.Sprintf(", number %d in the queue", c.Position)
	}
	return table.Cell{Text: text, Paint: paintOf(c)}
}

func paintOf(c v1.Cluster) table.Paint {
	switch {
	case c.Status == v1.FAILED, c.InstallFailed:
		return table.Bad
	case c.Phase == "degraded", c.Phase == "expiring":
		return table.Warn
	case c.Phase == "asleep":
		return table.Faint
	case c.Phase == "going_to_sleep", c.Phase == "waking", c.Phase == "preparing":
		return table.Busy
	case c.Status == v1.READY:
		return table.Good
	case c.Status == v1.DESTROYED:
		return table.Faint
	}
	return table.Busy
}

// handleOf returns how to refer to a cluster: by its name while it lives, then by its id, because another cluster may have the name.
func handleOf(c v1.Cluster) string {
	if isGone(c) {
		return c.ClusterID
	}
	return c.Name
}

// isGone reports that nothing is left of a cluster.
func isGone(c v1.Cluster) bool {
	return c.Status == v1.DESTROYED || !c.ReleasedAt.IsZero()
}

// describeEnd says when a cluster ends or ended, and whether it falls asleep soon.
func describeEnd(c v1.Cluster, now time.Time) string {
	switch {
	case !c.ReleasedAt.IsZero():
		return "gone " + duration.Away(c.ReleasedAt, now)
	case c.Desired == v1.Absent:
		return "being destroyed"
	case c.DestroyAt.Before(now):
		return "due"
	}
	text := duration.Away(c.DestroyAt, now)
	for _, at := range []time.Time{c.Sleep.SleepsAt, c.Idle.SleepAt} {
		if !at.IsZero() && at.Sub(now) < sleepsSoon {
			return text + ", asleep " + duration.Away(at, now)
		}
	}
	return text
}

// sleepsSoon is how long before it a list says that a cluster falls asleep.
const sleepsSoon = time.Hour

func pullRequest(c v1.Cluster) string {
	if c.PullRequest.Repo == "" {
		return ""
	}
	return fmt.Sprintf("%s#%d", c.PullRequest.Repo, c.PullRequest.Number)
}

// describeRun names the pipeline's run that a cluster belongs to.
func describeRun(r v1.ClusterRun) string {
	if r.ID == "" {
		return ""
	}
	text := fmt.Sprintf("%s, attempt %d, %s", cmp.Or(r.URL, r.Name), r.Attempt, r.State)
	if r.Conclusion != "" {
		text += " (" + r.Conclusion + ")"
	}
	if r.Slot != "" {
		text += ", slot " + r.Slot
	}
	if r.Unwatched != "" {
		text += "; its end cannot be noticed, because " + r.Unwatched
	}
	return humanize.Line(text)
}

// describeSignal says how the run's repository is told that the cluster is ready or failed.
func describeSignal(g v1.ClusterSignal) string {
	switch {
	case g.Kind == "":
		return ""
	case g.Problem != "":
		return humanize.Line(g.Problem)
	case g.Told == "":
		return fmt.Sprintf("a %s when it is ready or failed", g.Kind)
	}
	return fmt.Sprintf("a %s told: %s", g.Kind, g.Told)
}

func describeWorkers(c v1.Cluster) string {
	switch {
	case c.Workers == nil && c.WorkersWanted == nil:
		return ""
	case c.Workers == nil:
		return fmt.Sprintf("scaling to %d", *c.WorkersWanted)
	case c.WorkersWanted != nil && *c.WorkersWanted != *c.Workers:
		return fmt.Sprintf("%d, scaling to %d", *c.Workers, *c.WorkersWanted)
	}
	return fmt.Sprint(*c.Workers)
}

// openingCommand is how a reader opens the console: its address where nobody gets an account; empty: there is none.
func openingCommand(c v1.Cluster) string {
	if c.ConsoleURL == "" || !kinds.Can(c.Provisioner, kinds.Console) {
		return c.ConsoleURL
	}
	return "ocpctl open " + c.Name
}

// domainText continues a sentence with the base domain, if clusters of the kind have one.
func domainText(provisioner, domain string) string {
	if !kinds.Can(provisioner, kinds.OwnAPI) {
		return ""
	}
	return ", domain " + domain
}

// writeCluster shows one cluster for people; brief leaves out what does not change.
func (a *app) writeCluster(s *table.Screen, c v1.Cluster, brief bool) {
	fmt.Fprintf(s.Out, "%s  %s\n", s.Painted(humanize.Line(c.Name), table.Bold), s.Painted(statusCell(c).Text, paintOf(c)))
	f := s.Facts()
	f.Add("why", c.Why)
	f.Add("destroyed because", c.DesiredWhy)
	f.Add("step", c.Progress.Step)
	if c.Status == v1.CREATING || c.Status == v1.DESTROYING {
		f.Add("expected by", humanize.When(c.Progress.Eta, s.Now))
	}
	if c.NeedsApproval {
		f.Add("approval due", humanize.When(c.ApproveBy, s.Now))
	}
	if c.FailReason != "" || c.FailMessage != "" {
		f.Paint("error", strings.TrimSpace(c.FailMessage+" ("+c.FailReason+")"), table.Bad)
		f.Add("who can fix it", humanize.Whose(c.FailWhose))
		f.Add("next", c.FailNext)
	}
	f.Add("next attempt", humanize.When(c.RetryAt, s.Now))
	if c.Desired == v1.Present {
		for _, l := range c.Links {
			f.Add("app", strings.TrimSpace(l.URL+" "+l.Title))
		}
		f.Add("console", openingCommand(c))
		f.Add("API", c.APIURL)
	}
	f.Add("ends", humanize.Ends(c, s.Now))
	f.Add("held until", humanize.When(c.HoldUntil, s.Now))
	if c.Desired == v1.Present {
		f.Add("latest end", humanize.Stamp(c.MaxDestroyAt))
	}
	f.Add("gone since", humanize.When(c.ReleasedAt, s.Now))
	f.Add("workers", describeWorkers(c))
	f.Add("add-ons", describeAddons(c))
	if !brief {
		f.Add("profile", fmt.Sprintf("%s, %s on %s in %s", c.Profile, kinds.Product(c.Provisioner, c.Version), price.PlatformText(c.Platform), c.Region)+domainText(c.Provisioner, c.BaseDomain))
		f.Add("owner", fmt.Sprintf("%s, team %s, cost center %s", c.Owner, c.Team, c.CostCenter))
		f.Add("account", c.Account)
		if c.Priority != 0 && c.Desired == v1.Present && c.ReadyAt.IsZero() {
			f.Add("priority", strconv.Itoa(c.Priority))
		}
		f.Add("pool", poolText(c, s.Now))
		f.Add("requested", fmt.Sprintf("%s by %s, through %s", humanize.When(c.AcceptedAt, s.Now), cmp.Or(c.RequestedByName, c.RequestedBy), humanize.Plain(c.Source)))
		f.Add("pull request", pullRequest(c))
		f.Add("run", describeRun(c.Run))
		f.Add("signal", describeSignal(c.Signal))
		f.Add("saved", humanize.Saved(c))
		f.Add("sleep", humanize.Sleep(c, s.Now))
		f.Add("last used", humanize.Unused(c, s.Now))
		f.Add("price", humanize.Costs(c, s.Now))
	}
	f.Add("id", c.ClusterID)
	f.Add("job", c.JobID)
	f.Write()
	if len(c.Blockers) > 0 {
		s.Head("Remaining resources")
		for _, b := range c.Blockers {
			s.Linef("  %s", humanize.Line(b))
		}
	}
}
