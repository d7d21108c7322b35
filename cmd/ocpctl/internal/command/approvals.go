package command

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/connect"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/exit"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/humanize"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/table"
	"github.com/ocpctl/ocpctl/internal/duration"
)

func (a *app) newApprovalsCommand() *cobra.Command {
	var params v1.ListApprovalsParams
	var all bool
	var most int
	c := fromTable("approvals", &cobra.Command{
		Args: rangeArgs(0, 1), ValidArgsFunction: completeFirst(a.completeApprovals),
	})
	c.Flags().StringVar(&params.Cluster, "cluster", "", optionUsage("approvals", "cluster"))
	c.Flags().StringVar(&params.State, "state", "pending", optionUsage("approvals", "state"))
	c.Flags().BoolVarP(&all, "all", "a", false, optionUsage("approvals", "all"))
	c.Flags().IntVar(&most, "limit", 50, optionUsage("approvals", "limit"))
	c.RunE = a.runWithAPI(func(ctx context.Context, api *connect.API, args []string) error {
		if len(args) == 1 {
			id, err := a.newestApproval(ctx, api, args[0])
			if err != nil {
				return err
			}
			return a.printApproval(api.GetApproval(ctx, id))
		}
		if all {
			params.State = ""
		}
		return a.listApprovals(most, func(limit int, cursor string) (*http.Response, error) {
			params.Limit, params.Cursor = limit, cursor
			return api.ListApprovals(ctx, &params)
		})
	})
	return c
}

func (a *app) listApprovals(most int, get func(limit int, cursor string) (*http.Response, error)) error {
	return listOf[v1.Approval]{
		name:  func(one v1.Approval) string { return one.ApprovalID },
		heads: []string{"APPROVAL", "WHAT", "CLUSTER", "TEAM", "REQUESTED BY", "STATE", "VOTES", "YOU MAY VOTE", "EXPIRES", "+WHY"},
		row: func(s *table.Screen, one v1.Approval) []any {
			mine := ""
			if one.MayVote {
				mine = "yes"
			}
			return []any{one.ApprovalID, one.Kind, cmp.Or(one.ClusterName, one.ClusterID), one.Team, cmp.Or(one.RequestedByName, one.RequestedBy), approvalState(one),
				fmt.Sprintf("%d of %d", countVotes(one), one.Needs), mine, duration.Away(one.ExpiresAt, s.Now), strings.Join(one.Why, "; ")}
		},
		none: "No approvals.",
	}.showPages(a, most, get)
}

func countVotes(one v1.Approval) (n int) {
	for _, v := range one.Votes {
		if v.Approves {
			n++
		}
	}
	return n
}

func approvalState(one v1.Approval) table.Cell {
	paint := map[v1.ApprovalState]table.Paint{
		v1.ApprovalStatePending: table.Warn, v1.ApprovalStateApproved: table.Good, v1.ApprovalStateUsed: table.Good, v1.ApprovalStateRefused: table.Bad,
	}[one.State]
	return table.Cell{Text: string(one.State), Paint: paint}
}

// printApproval shows one approval from a response.
func (a *app) printApproval(res *http.Response, err error) error {
	return showAnswer(a, func(one v1.Approval) []string { return []string{one.ApprovalID} }, func(s *table.Screen, one v1.Approval) {
		fmt.Fprintf(s.Out, "%s  %s\n", s.Painted(humanize.Line(one.ApprovalID), table.Bold), s.Painted(approvalState(one).Text, approvalState(one).Paint))
		f := s.Facts()
		f.Add("what", map[v1.ApprovalKind]string{
			v1.ApprovalKindCreate: "create the cluster", v1.ApprovalKindKubeadmin: "show the kubeadmin password",
			v1.ApprovalKindKubeconfig: "show the installer's kubeconfig",
		}[one.Kind])
		f.Add("cluster", strings.TrimSpace(one.ClusterName+" "+one.ClusterID))
		f.Add("team", one.Team)
		f.Add("requested by", cmp.Or(one.RequestedByName, one.RequestedBy)+", "+duration.Away(one.CreatedAt, s.Now))
		f.Add("commit", one.Head)
		f.Add("needs", fmt.Sprintf("%s by %s; %d given", humanize.Count(one.Needs, "vote"), humanize.Plain(one.By), countVotes(one)))
		f.Add("expires", humanize.When(one.ExpiresAt, s.Now))
		f.Add("decided", humanize.When(one.DecidedAt, s.Now))
		f.Add("reason", one.DecidedWhy)
		f.Write()
		writeParagraphs(s, "Why it is needed", one.Why)
		if len(one.Votes) > 0 {
			s.Head("Votes")
			writeTable(s, "", []string{"WHO", "VOTE", "AT", "REASON"}, one.Votes, func(_ *table.Screen, v v1.Vote) []any {
				return []any{cmp.Or(v.Name, v.Principal), map[bool]string{true: "approve", false: "refuse"}[v.Approves], humanize.Stamp(v.At), v.Reason}
			})
		}
		if one.MayVote {
			s.Linef("\nYou may vote: ocpctl approve %s, or ocpctl refuse %s --reason \"…\"", one.ApprovalID, one.ApprovalID)
		}
	})(res, err)
}

func (a *app) newApproveCommand() *cobra.Command {
	var reason string
	c := fromTable("approve", &cobra.Command{
		Args: rangeArgs(1, 1), ValidArgsFunction: completeFirst(a.completeApprovals),
		RunE: a.runWithAPI(func(ctx context.Context, api *connect.API, args []string) error {
			id, err := a.pendingApproval(ctx, api, args[0])
			if err != nil {
				return err
			}
			return a.printApproval(api.Approve(ctx, id, v1.MaybeReason{Reason: reason}))
		}),
	})
	reasonFlag(c, &reason)
	return c
}

func (a *app) newRefuseCommand() *cobra.Command {
	var reason string
	c := fromTable("refuse", &cobra.Command{
		Args: rangeArgs(1, 1), ValidArgsFunction: completeFirst(a.completeApprovals),
		RunE: a.runWithAPI(func(ctx context.Context, api *connect.API, args []string) error {
			id, err := a.pendingApproval(ctx, api, args[0])
			if err != nil {
				return err
			}
			return a.printApproval(api.Refuse(ctx, id, v1.Reason{Reason: reason}))
		}),
	})
	addRequiredReason(c, &reason)
	return c
}

// newestApproval finds the approval to show: by its id, or a cluster's newest one in any state.
func (a *app) newestApproval(ctx context.Context, api *connect.API, name string) (string, error) {
	if strings.HasPrefix(name, "apr_") {
		return name, nil
	}
	answer, err := connect.Read[v1.ApprovalPage](api.ListApprovals(ctx, &v1.ListApprovalsParams{Cluster: name, Limit: 1}))
	if err != nil {
		return "", err
	}
	if len(answer.Value.Items) == 0 {
		return "", exit.With(exit.NotFound, fmt.Errorf("%s has never needed an approval", humanize.Line(name)))
	}
	return answer.Value.Items[0].ApprovalID, nil
}

// pendingApproval finds the approval to decide: by its id, or the one that a cluster waits for.
func (a *app) pendingApproval(ctx context.Context, api *connect.API, name string) (string, error) {
	if strings.HasPrefix(name, "apr_") {
		return name, nil
	}
	answer, err := connect.Read[v1.ApprovalPage](api.ListApprovals(ctx, &v1.ListApprovalsParams{Cluster: name, State: "pending"}))
	if err != nil {
		return "", err
	}
	switch items := answer.Value.Items; len(items) {
	case 0:
		return "", exit.With(exit.NotFound, fmt.Errorf("%s has no pending approval; ocpctl approvals lists all that are pending", humanize.Line(name)))
	case 1:
		return items[0].ApprovalID, nil
	default:
		field := exit.Field{Name: "APPROVAL", Detail: fmt.Sprintf("%s of %s are pending.", humanize.Count(len(items), "approval"), humanize.Line(name))}
		for _, one := range items {
			field.Accepted = append(field.Accepted, one.ApprovalID)
		}
		return "", exit.With(exit.Usage, &exit.Problem{Title: "More than one approval matches.", Fields: []exit.Field{field}})
	}
}
