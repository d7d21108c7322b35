package blocks

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	api "github.com/slack-go/slack"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/chatops/blocks/blockstest"
	"github.com/ocpctl/ocpctl/chatops/chatopstest"
	"github.com/ocpctl/ocpctl/internal/blockkit"
	"github.com/ocpctl/ocpctl/lifecycle"
)

func createForm() FormView {
	return FormView{
		Callback: FormCreate, Title: "Create a cluster", Submit: "Create", Metadata: `{"channel":"C1"}`,
		Fields: []Field{
			{Name: "name", Label: "Name", Hint: "Empty: a name is chosen.", Kind: FieldText, Value: "shop"},
			{Name: "profile", Label: "Profile", Kind: FieldChoice, Value: "aws-minimal-test", Required: true, Live: true, Options: []Option{{"aws-minimal-test", "aws-minimal-test: one node"}, {"aws-standard", ""}}},
			{Name: "version", Label: "Version", Kind: FieldChoice, Options: []Option{{"", "The profile's default"}, {"4.20.3", "4.20.3"}}},
			{Name: "ttl_hours", Label: "Lifetime in hours", Kind: FieldText, Value: "900", Live: true, Problems: []string{"It may live 72 hours at most."}},
			{Name: "addons", Label: "Add-ons", Hint: "What the cluster gets besides OpenShift.\ngitops: Argo CD.\n\npipelines: Tekton.", Kind: FieldChoices, Value: "gitops\npipelines", Options: []Option{{"gitops", "GitOps"}, {"pipelines", "Pipelines"}, {"mesh", "Service mesh"}}},
			{Name: "extra_tags", Label: "Tags", Hint: "One key=value in a line.", Kind: FieldArea, Value: "a=b\nc=d"},
			{Name: "channel", Label: "Post updates in", Kind: FieldChannel, Value: "C1"},
			{Name: "owner", Label: "Owner", Kind: FieldPerson, Value: "U0MAYA"},
		},
		Fixed:    []Fact{{"Machines", "1 × m6i.2xlarge"}, {"Longest lifetime", "72h"}},
		Preview:  []string{"It costs about **$0.75** an hour and would be ready at about 2025-01-01 12:40 UTC.", "It needs no approval."},
		Problems: []string{"The lifetime is too long."},
	}
}

func TestFormsAreGolden(t *testing.T) {
	for name, v := range map[string]FormView{
		"create": createForm(),
		"reason": {Callback: FormReason, Title: "Refuse the request", Submit: "Refuse", Fields: []Field{{Name: "reason", Label: "Why?", Kind: FieldArea, Required: true}}},
		"share":  {Callback: FormShare, Title: "Share pr41-shop", Submit: "Share", Fields: []Field{{Name: "person", Label: "With whom?", Kind: FieldPerson, Required: true}}},
		"transfer": {Callback: FormTransfer, Title: "Hand pr41-shop over to somebody else", Submit: "Offer", Fields: []Field{
			{Name: "person", Label: "To whom?", Kind: FieldPerson, Required: true}}},
	} {
		m := Form(v)
		goldenView(t, "form-"+name, m, m.Blocks.BlockSet)
		require.Equal(t, v.Callback, m.CallbackID)
		require.Equal(t, v.Metadata, m.PrivateMetadata)
	}
	working, done := Working("Create a cluster"), Done("Create a cluster", "Your cluster `shop` is being created. Its message is in #clusters.")
	goldenView(t, "form-working", working, working.Blocks.BlockSet)
	goldenView(t, "form-done", done, done.Blocks.BlockSet)
}

func TestAMenuOffersOnlyWhatSlackCan(t *testing.T) {
	f := Field{Name: "f", Label: "F", Kind: FieldChoice, Value: "gone"}
	for i := range 300 {
		f.Options = append(f.Options, Option{Value: fmt.Sprint(i), Text: strings.Repeat("x", 200)}, Option{Value: fmt.Sprint(i)}, Option{Value: strings.Repeat("y", 200)})
	}
	several, none := f, Field{Name: "n", Label: "N", Kind: FieldChoice}
	several.Name, several.Kind, several.Value = "s", FieldChoices, "3\n4\n299"
	view := Form(FormView{Title: strings.Repeat("long ", 20), Fields: []Field{f, several, none}})
	require.Empty(t, blockkit.View(indented(t, view)))
	menu := view.Blocks.BlockSet[0].(*api.InputBlock).Element.(*api.SelectBlockElement)
	require.Len(t, menu.Options, maxOptions)
	require.Nil(t, menu.InitialOption, "what cannot be chosen is not chosen")
	require.Len(t, view.Blocks.BlockSet[1].(*api.InputBlock).Element.(*api.MultiSelectBlockElement).InitialOptions, 2)
}

func home() HomeView {
	lives := chatopstest.Lives()
	failed, installing := lives["create-failed"], lives["installing"]
	failed.ID, failed.Name, installing.ID, installing.Name = "clu_2", "demo", "clu_3", "pr7-cart"
	return HomeView{
		Name: "maya", Linked: true, Mine: []lifecycle.Card{chatopstest.Ready(), failed}, Team: []lifecycle.Card{installing}, Approvals: []chatops.Waiting{approval()},
		Allowances: []Allowance{{"Clusters of team platform", "3", "5", "2"}, {"Budget of team platform", "$400.00", "$650.00", "$250.00"}},
		Acts: map[string][]chatops.Verb{
			"clu_1": {chatops.VerbDestroy, chatops.VerbExtend, chatops.VerbKubeconfig, chatops.VerbLogs, chatops.VerbShare}, "clu_2": {chatops.VerbRetry, chatops.VerbLogs}, "clu_3": {chatops.VerbLogs},
		},
		Links: ui, Now: start.Add(90 * time.Minute),
	}
}

func TestHomeIsGolden(t *testing.T) {
	v := home()
	for name, v := range map[string]HomeView{
		"home": v, "home-empty": {Name: "maya", Linked: true, Links: ui},
		"home-not-linked": {LinkHint: "ocpctl does not know who you are. **Link my account** opens a page on which you sign in."},
	} {
		view := Home(v)
		goldenView(t, name, view, view.Blocks.BlockSet)
	}
}

func TestHomeOffersOnlyWhatThePersonMayDo(t *testing.T) {
	v := home()
	v.Acts = map[string][]chatops.Verb{"clu_1": {chatops.VerbLogs}}
	v.Approvals = nil
	require.Equal(t, map[string]Press{
		"Logs": {Verb: chatops.VerbLogs, Cluster: "clu_1"}, "Create a cluster": {Verb: chatops.VerbOpenForm, Value: FormCreate}, "Help": {Verb: chatops.VerbHelp},
	}, presses(t, Home(v).Blocks.BlockSet))
}

func TestAFullHomeFits(t *testing.T) {
	v := home()
	v.Mine, v.Team, v.Approvals, v.Allowances = slices.Repeat(v.Mine, 40), slices.Repeat(v.Team, 40), slices.Repeat(v.Approvals, 40), slices.Repeat(v.Allowances, 40)
	view := Home(v)
	require.Empty(t, blockkit.View(indented(t, view)))
	require.Contains(t, blockstest.Readable(view.Blocks.BlockSet), "What you can still request", "nothing of it is cut off")
}
