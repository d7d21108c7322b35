package command

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/connect"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/humanize"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/table"
	"github.com/ocpctl/ocpctl/internal/price"
)

// newCloudAccountCommands returns the commands for cloud accounts.
func (a *app) newCloudAccountCommands() []*cobra.Command {
	return []*cobra.Command{
		a.newSimpleCommand("list", "List the cloud accounts that your teams may use", (*connect.API).ListAccounts, a.printAccounts),
		a.newSimpleCommand("room", "Show how many more clusters of each profile fit where", (*connect.API).ListRooms, a.printRooms),
		&cobra.Command{
			Use: "show ACCOUNT", Short: "Show a cloud account", Args: rangeArgs(1, 1), ValidArgsFunction: completeFirst(a.completeCloudAccounts),
			RunE: a.runWithAPI(func(ctx context.Context, api *connect.API, args []string) error {
				return a.printAccount(api.GetAccount(ctx, args[0]))
			}),
		},
		&cobra.Command{
			Use: "prove ACCOUNT", Short: "Check now whether clusters can be created in a cloud account", Args: rangeArgs(1, 1), ValidArgsFunction: completeFirst(a.completeCloudAccounts),
			RunE: a.runWithAPI(func(ctx context.Context, api *connect.API, args []string) error {
				return a.printAccount(api.ProveAccount(ctx, args[0]))
			}),
		},
	}
}

func (a *app) printAccounts(res *http.Response, err error) error {
	return listOf[v1.Account]{
		name:  func(one v1.Account) string { return one.Name },
		heads: []string{"ACCOUNT", "PLATFORM", "NUMBER", "STATE", "CLUSTERS", "ROOM"},
		row: func(_ *table.Screen, one v1.Account) []any {
			return []any{one.Name, price.PlatformText(one.Platform), one.Number, accountCell(one), accountClusters(one), accountRoom(one)}
		},
		none: "No accounts: clusters are made in the account of the installation.",
	}.showAnswer(a)(res, err)
}

func (a *app) printRooms(res *http.Response, err error) error {
	return listOf[v1.Room]{
		name:  func(one v1.Room) string { return one.Profile },
		heads: []string{"PROFILE", "ACCOUNT", "REGION", "FITS", "LIMITED BY", "MEASURED"},
		row: func(s *table.Screen, one v1.Room) []any {
			fits := table.Cell{Text: fmt.Sprint(one.Clusters), Paint: table.Good}
			if one.Clusters == 0 {
				fits.Paint = table.Warn
			}
			return []any{one.Profile, cmp.Or(one.Account, one.Number), one.Region, fits, one.LimitedBy, humanize.When(one.MeasuredAt, s.Now)}
		},
		none: "Nothing was measured in the last day. Scans of the cloud accounts measure it; a platform admin sets scan.every, or starts one with ocpctl admin scan.",
	}.showAnswer(a)(res, err)
}

func accountCell(one v1.Account) table.Cell {
	paint := table.Warn
	if one.State == v1.AccountStateOpen {
		paint = table.Good
	}
	return table.Cell{Text: string(one.State), Paint: paint}
}

// proofText says what is known of whether clusters can be made there.
func proofText(one v1.Account, now time.Time) string {
	p := one.Proof
	if one.State == v1.AccountStateGone {
		return ""
	}
	text := p.Message
	if p.Verdict == v1.AccountProofVerdictProven {
		text = "proven " + humanize.When(p.At, now)
		if p.Message != "" {
			text += "; last check: " + p.Message
		}
	}
	switch {
	case p.Running && text == "":
		return "being checked now"
	case p.Running:
		return text + "; being checked again"
	}
	return text
}

func accountClusters(one v1.Account) string {
	if one.Cap == 0 {
		return fmt.Sprint(one.Live)
	}
	return fmt.Sprintf("%d of %d", one.Live, one.Cap)
}

func accountRoom(one v1.Account) string {
	var rooms []string
	for _, r := range one.Room {
		rooms = append(rooms, fmt.Sprintf("%s: %d", r.Region, r.Clusters))
	}
	return cmp.Or(strings.Join(rooms, ", "), "not measured")
}

func (a *app) printAccount(res *http.Response, err error) error {
	return showAnswer(a, func(one v1.Account) []string { return []string{one.Name} }, func(s *table.Screen, one v1.Account) {
		state := accountCell(one)
		fmt.Fprintf(s.Out, "%s  %s\n", s.Painted(humanize.Line(one.Name), table.Bold), s.Painted(state.Text, state.Paint))
		f := s.Facts()
		f.Add("account", fmt.Sprintf("%s on %s", one.Number, price.PlatformText(one.Platform)))
		f.Add("external id", one.ExternalID)
		f.Add("proof", proofText(one, s.Now))
		f.Add("next", one.Proof.Next)
		f.Add("clusters", accountClusters(one))
		f.Add("room", accountRoom(one))
		f.Add("regions", cmp.Or(strings.Join(one.Regions, ", "), "every region"))
		f.Add("teams", cmp.Or(strings.Join(one.Teams, ", "), "every team"))
		f.Add("base domain", one.BaseDomain)
		f.Add("priority", fmt.Sprint(one.Priority))
		f.Write()
	})(res, err)
}

func (a *app) completeCloudAccounts(cmd *cobra.Command, _ []string, start string) ([]string, cobra.ShellCompDirective) {
	return a.completeFromServer(cmd, start, func(ctx context.Context, api *connect.API) (out []string) {
		answer, err := connect.Read[v1.Accounts](api.ListAccounts(ctx))
		if err != nil {
			return nil
		}
		for _, one := range answer.Value.Items {
			out = append(out, formatHint(one.Name, accountClusters(one)+" clusters, "+string(one.State)))
		}
		return out
	})
}
