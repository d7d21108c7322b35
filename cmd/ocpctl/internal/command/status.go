package command

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/connect"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/humanize"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/table"
	"github.com/ocpctl/ocpctl/internal/duration"
)

func (a *app) newStatusCommand() *cobra.Command {
	c := fromTable("status", &cobra.Command{
		Example: "  ocpctl status team-a-smoke-01\n  ocpctl status --cluster-id clu_01J9ZQ0M7V3N6WZ6M4C8Q2K5RT -o json",
	})
	return a.onCluster(c, 0, 0, func(ctx context.Context, api *connect.API, id string, _ []string) error {
		return showAnswer(a, func(d v1.ClusterDetail) []string { return []string{handleOf(d.Cluster)} }, a.writeDetail)(api.GetCluster(ctx, id))
	})
}

func (a *app) writeDetail(s *table.Screen, d v1.ClusterDetail) {
	a.writeCluster(s, d.Cluster, false)
	a.writeConditions(s, d.Conditions)
	if s.Wide {
		a.writeAttempts(s, d.Attempts)
		a.writeProof(s, d.Proof)
		a.writeTags(s, d.Tags)
	}
	const newest = 6
	events := d.Timeline
	if !s.Wide && len(events) > newest {
		events = events[len(events)-newest:]
		s.Head(fmt.Sprintf("Timeline (the newest %d of %d)", newest, len(d.Timeline)))
	} else if len(events) > 0 {
		s.Head("Timeline")
	}
	a.writeEvents(s, events)
}

func (a *app) writeConditions(s *table.Screen, all []v1.Condition) {
	if len(all) == 0 {
		return
	}
	s.Head("Conditions")
	writeTable(s, "", []string{"TYPE", "STATUS", "REASON", "SINCE", "MESSAGE"}, all, func(s *table.Screen, c v1.Condition) []any {
		return []any{c.Type, string(c.Status), c.Reason, duration.Away(c.Since, s.Now), c.Message}
	})
}

func (a *app) writeAttempts(s *table.Screen, all []v1.Attempt) {
	if len(all) == 0 {
		return
	}
	s.Head("Attempts")
	writeTable(s, "", []string{"NUMBER", "KIND", "PHASE", "OUTCOME", "BEGAN", "TOOK", "MESSAGE"}, all, func(_ *table.Screen, at v1.Attempt) []any {
		took := ""
		if !at.ClosedAt.IsZero() {
			took = duration.Format(at.ClosedAt.Sub(at.OpenedAt))
		}
		return []any{at.Number, string(at.Kind), humanize.Plain(at.Phase), at.Outcome, humanize.Stamp(at.OpenedAt), took, at.Message}
	})
}

// writeProof shows what DESTROYED is based on: ocpctl's own counts.
func (a *app) writeProof(s *table.Screen, passes []v1.Pass) {
	if len(passes) == 0 {
		return
	}
	s.Head("Verification")
	writeTable(s, "", []string{"ATTEMPT", "PASS", "AT", "RESULT", "QUERIES", "REMAINING"}, passes, func(_ *table.Screen, p v1.Pass) []any {
		result := table.Cell{Text: "clean", Paint: table.Good}
		if !p.Clean {
			result = table.Cell{Text: "not clean", Paint: table.Bad}
		}
		return []any{p.Attempt, p.Number, humanize.Stamp(p.At), result, len(p.Queries), len(p.Leftovers)}
	})
	last := passes[len(passes)-1]
	var told []string
	for _, q := range last.Queries {
		if q.Unasked != "" && !slices.Contains(told, q.Region) {
			told = append(told, q.Region)
			s.Linef("  %s", humanize.Line(fmt.Sprintf("region %s was not asked: %s", q.Region, humanize.Plain(q.Unasked))))
		}
	}
	for _, l := range last.Leftovers {
		text := fmt.Sprintf("%s %s %s: %s", l.Type, l.ID, l.Name, l.Free)
		if l.Command != "" {
			text += ": " + l.Command
		}
		if l.Remark != "" {
			text += " (" + l.Remark + ")"
		}
		s.Linef("  %s", humanize.Line(text))
		if l.Refused.Heals {
			s.Linef("    %s", humanize.Line(fmt.Sprintf("last refused with %s: %s", l.Refused.Reason, l.Refused.Words)))
		}
	}
}

func (a *app) writeTags(s *table.Screen, tags map[string]string) {
	if len(tags) == 0 {
		return
	}
	s.Head("Tags")
	f := s.Facts()
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		f.Add(key, tags[key])
	}
	f.Write()
}

func (a *app) writeEvents(s *table.Screen, all []v1.Event) {
	for _, e := range all {
		what := strings.ReplaceAll(humanize.Plain(e.Action), ".", " ")
		if e.To != "" && e.To != e.From {
			what = describeState(e.To)
		}
		by := ""
		if e.Actor != "lifecycle" && e.Actor != "" {
			by = " (" + cmp.Or(e.ActorName, e.Actor) + ")"
		}
		text := what + by
		if e.Message != "" && e.Message != e.Action {
			text += ": " + e.Message
		}
		fmt.Fprintf(s.Out, "  %s  %s\n", s.Painted(e.At.UTC().Format(time.DateTime), table.Faint), humanize.Line(text))
	}
}

// describeState describes the state that a cluster reached, such as PENDING/queued or READY/ready.
func describeState(to string) string {
	status, phase, _ := strings.Cut(to, "/")
	if strings.EqualFold(status, phase) || phase == "" {
		return strings.ToLower(status)
	}
	return strings.ToLower(status) + ", " + humanize.Plain(phase)
}

func (a *app) newTimelineCommand() *cobra.Command {
	c := &cobra.Command{Use: "timeline CLUSTER", Short: "Show a cluster's timeline, oldest first"}
	return a.onCluster(c, 0, 0, func(ctx context.Context, api *connect.API, id string, _ []string) error {
		return showAnswer(a, func(v1.Timeline) []string { return []string{id} }, func(s *table.Screen, t v1.Timeline) { a.writeEvents(s, t.Items) })(api.GetTimeline(ctx, id))
	})
}

func (a *app) newExplainCommand() *cobra.Command {
	c := fromTable("explain", &cobra.Command{})
	return a.onCluster(c, 0, 0, func(ctx context.Context, api *connect.API, id string, _ []string) error {
		return showAnswer(a, func(e v1.Explanation) []string { return []string{handleOf(e.Cluster)} }, a.writeExplanation)(api.ExplainCluster(ctx, id))
	})
}

func (a *app) writeExplanation(s *table.Screen, e v1.Explanation) {
	fmt.Fprintf(s.Out, "%s  %s\n", s.Painted(humanize.Line(e.Cluster.Name), table.Bold), s.Painted(statusCell(e.Cluster).Text, paintOf(e.Cluster)))
	writeParagraphs(s, "Why", e.Why)
	if len(e.Ends) > 0 {
		s.Head("Ends, earliest first")
		writeTable(s, "", []string{"END", "AT", "REASON"}, e.Ends, func(s *table.Screen, end v1.End) []any {
			return []any{humanize.Plain(end.Kind), humanize.When(end.At, s.Now), end.Message}
		})
	}
	if len(e.Verdict.Checks) > 0 {
		s.Head("Policy checks")
		a.writeVerdict(s, e.Verdict)
	}
	writeParagraphs(s, "What you can do", e.Next)
}

func writeParagraphs(s *table.Screen, head string, sentences []string) {
	if len(sentences) == 0 {
		return
	}
	s.Head(head)
	for _, sentence := range sentences {
		s.Linef("  %s", humanize.Line(sentence))
	}
}
