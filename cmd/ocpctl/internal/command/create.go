package command

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/connect"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/exit"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/follow"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/humanize"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/table"
	"github.com/ocpctl/ocpctl/internal/duration"
	"github.com/ocpctl/ocpctl/internal/kinds"
	"github.com/ocpctl/ocpctl/internal/price"
)

// The default time limits of a wait: well above the duration of an install or a teardown.
const (
	createTime  = 2 * time.Hour
	destroyTime = 90 * time.Minute
	scaleTime   = time.Hour
)

func (a *app) newCreateCommand() *cobra.Command {
	var w createInput
	var waits waiting
	var dry bool
	var key string
	var what question
	c := fromTable("create", &cobra.Command{
		Long: `Create a cluster. Values you leave out come from the profile's defaults or from a policy.

The command prints the cluster, its job and its page, and returns when the request is accepted. The cluster may then still
wait in the queue or for an approval. With --wait the command returns when the cluster is ready.
Repeating the command with the same --idempotency-key does not create a second cluster. Without the flag, each run gets a
new key.`,
		Example: `  ocpctl create aws-minimal-test --name team-a-smoke-01 --ttl 24h --owner team-a --cost-center cc-1234
  ocpctl create --name team-a-smoke-01 --dry-run
  ocpctl create aws-minimal-test --pool aws-ready --wait
  ocpctl create -f request.yaml --wait --timeout 90m -o json`,
		Args: rangeArgs(0, 1), ValidArgsFunction: completeFirst(a.completeProfiles),
		RunE: a.runCommand(func(ctx context.Context, args []string) error {
			if err := what.check(dry, &w); err != nil {
				return err
			}
			r, err := a.readRequest(w, args)
			if err != nil {
				return err
			}
			api, err := a.connectAPI()
			switch {
			case err != nil:
				return err
			case what.As != "":
				return what.answer(ctx, a, api, r)
			case dry:
				return a.dryRun(ctx, api, r)
			case key == "":
				key = a.UUID()
			}
			return a.requestCluster(ctx, api, r, key, waits)
		}),
	})
	a.addCreateFlags(c, &w)
	waits.addFlags(c, "create", createTime)
	c.Flags().BoolVar(&dry, "dry-run", false, optionUsage("create", "dry-run"))
	what.addFlags(c)
	c.Flags().StringVar(&key, "idempotency-key", "", optionUsage("create", "idempotency-key"))
	return c
}

func (a *app) requestCluster(ctx context.Context, api *connect.API, r v1.CreateRequest, key string, waits waiting) error {
	answer, err := connect.Read[v1.Accepted](api.CreateCluster(ctx, &v1.CreateClusterParams{IdempotencyKey: key}, r))
	if err != nil {
		return explainUnanswered(err, key)
	}
	accepted := answer.Value
	if accepted.Name == "" {
		accepted.Name = r.Name
	}
	if accepted.URL == "" {
		accepted.URL = api.Context.Server + "/clusters/" + accepted.ClusterID
	}
	replayed := answer.Header.Get("Idempotency-Replayed") == "true"
	if !waits.wait {
		raw, err := table.With(answer.Raw, "idempotencyKey", key)
		if err != nil {
			return err
		}
		return a.printAnswer(raw, []string{accepted.Name}, func(s *table.Screen) { a.writeAccepted(s, accepted, replayed) })
	}
	got := a.newScreen()
	got.Out, got.Color = a.Err, a.ErrTTY && a.hasColours()
	a.writeAccepted(got, accepted, replayed)
	return a.awaitAndPrint(ctx, api, follow.Target{ID: accepted.ClusterID, Name: accepted.Name}, follow.Ready, waits.timeout, func(raw []byte) ([]byte, error) {
		return table.With(raw, "idempotencyKey", key)
	})
}

// explainUnanswered says how to repeat a request if it is unknown whether the server got it.
func explainUnanswered(err error, key string) error {
	var said *exit.Error
	switch {
	case errors.As(err, &said):
		return err
	case errors.Is(err, context.Canceled):
		return exit.With(exit.Interrupted, fmt.Errorf("interrupted; the server may have accepted the request. Repeat it with --idempotency-key %s to avoid a second cluster", key))
	}
	return fmt.Errorf("%w\nRepeat the command with --idempotency-key %s to avoid a second cluster", err, key)
}

func (a *app) writeAccepted(s *table.Screen, c v1.Accepted, replayed bool) {
	head := "accepted"
	switch {
	case replayed:
		head = "was already accepted with this key"
	case c.Reused:
		head = "is there already"
	}
	fmt.Fprintf(s.Out, "%s %s\n", s.Painted(humanize.Line(c.Name), table.Bold), head)
	f := s.Facts()
	f.Add("status", string(c.Status))
	f.Add("verdict", c.Message)
	if c.ApprovalID != "" {
		f.Paint("approval", c.ApprovalID+": it must be approved first; see ocpctl approvals "+c.ApprovalID, table.Warn)
	}
	if c.Position > 0 {
		f.Paint("queue position", fmt.Sprint(c.Position), table.Warn)
	}
	f.Add("ends", humanize.When(c.DestroyAt, s.Now))
	f.Add("cluster", c.ClusterID)
	f.Add("job", c.JobID)
	f.Add("page", c.URL)
	f.Add("wait", "ocpctl wait "+c.Name)
	f.Write()
}

func (a *app) dryRun(ctx context.Context, api *connect.API, r v1.CreateRequest) error {
	answer, err := connect.Read[v1.Verdict](api.DryRun(ctx, r))
	if err != nil {
		return err
	}
	return a.printPreview(answer.Raw, answer.Value, func(*table.Screen) {})
}

// printPreview shows a verdict after a head, with what was granted.
func (a *app) printPreview(raw []byte, v v1.Verdict, head func(*table.Screen)) error {
	err := a.printAnswer(raw, []string{v.Name}, func(s *table.Screen) {
		head(s)
		a.writeVerdict(s, v)
		if !v.Allowed {
			s.Linef("Nothing was created.")
			return
		}
		f := s.Facts()
		f.Add("name", v.Name)
		f.Add("profile", v.Profile)
		f.Add("kind", fmt.Sprintf("%s in %s", kinds.Product(v.Provisioner, v.Version), v.Region)+domainText(v.Provisioner, v.BaseDomain))
		f.Add("for", fmt.Sprintf("%s of team %s, cost center %s, environment %s", v.Owner, v.Team, v.CostCenter, v.Environment))
		f.Add("lifetime", fmt.Sprintf("%s, at most %s", duration.Format(fromSeconds(v.TTLSeconds)), duration.Format(fromSeconds(v.MaxSeconds))))
		if v.Nodes > 0 {
			f.Add("machines", fmt.Sprint(v.Nodes))
		}
		f.Add("price", fmt.Sprintf("%s an hour, %s until its planned end, by list prices", price.Dollars(int64(v.HourlyCents)), price.Dollars(v.TotalCents)))
		a.addForecast(f, s, v)
		f.Write()
		if s.Wide {
			a.writeTags(s, v.Tags)
		}
		s.Linef("Nothing was created.")
	})
	if err == nil && !v.Allowed {
		return exit.Silent(exit.Refused)
	}
	return err
}

// addForecast adds when the cluster would begin and be ready.
func (a *app) addForecast(f *table.Facts, s *table.Screen, v v1.Verdict) {
	if v.Position > 0 {
		f.Paint("queue position", fmt.Sprint(v.Position), table.Warn)
	}
	f.Add("starts", humanize.When(v.StartsAt, s.Now))
	if v.ReadyP50Seconds > 0 {
		f.Add("ready after", fmt.Sprintf("%s in 50 %% of earlier installs, %s in 90 %%", duration.Format(fromSeconds(v.ReadyP50Seconds)), duration.Format(fromSeconds(v.ReadyP90Seconds))))
	}
}

// writeVerdict shows how a request was judged, check by check.
func (a *app) writeVerdict(s *table.Screen, v v1.Verdict) {
	paint := table.Good
	if !v.Allowed {
		paint = table.Bad
	} else if v.Waits || v.NeedsApproval.Count > 0 {
		paint = table.Warn
	}
	fmt.Fprintln(s.Out, s.Painted(humanize.Line(v.Message), paint))
	a.writeChecks(s, v.Checks, "  ")
	if v.NeedsApproval.Count > 0 {
		s.Linef("  Needs %s by %s:", humanize.Count(v.NeedsApproval.Count, "approval"), humanize.Plain(v.NeedsApproval.By))
		for _, why := range v.NeedsApproval.Why {
			s.Linef("    %s", humanize.Line(why))
		}
	}
}

func (a *app) writeChecks(s *table.Screen, all []v1.Check, indent string) {
	for _, c := range all {
		sign, paint := "✓", table.Good
		switch c.Result {
		case v1.CheckResultWarn:
			sign, paint = "!", table.Warn
		case v1.CheckResultWait, v1.CheckResultAsk:
			sign, paint = "…", table.Warn
		case v1.CheckResultFail:
			sign, paint = "✗", table.Bad
		}
		said := ": " + c.Message
		if c.Summarizes {
			said = ""
		}
		fmt.Fprintf(s.Out, "%s%s %s%s\n", indent, s.Painted(sign, paint), humanize.Line(c.Name), humanize.Line(said))
		if c.Result != v1.CheckResultPass && !c.Summarizes {
			for _, more := range []struct{ name, text string }{{"requested", c.Asked}, {"available", c.Have}, {"accepted", c.Accept}, {"next", c.Next}} {
				if more.text != "" {
					fmt.Fprintf(s.Out, "%s    %s: %s\n", indent, more.name, humanize.Line(more.text))
				}
			}
		}
		a.writeChecks(s, c.Checks, indent+"  ")
	}
}

func fromSeconds(n int64) time.Duration { return time.Duration(n) * time.Second }
