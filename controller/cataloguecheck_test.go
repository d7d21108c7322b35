package controller_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/chatops"
	hub "github.com/ocpctl/ocpctl/devstack/github"
	"github.com/ocpctl/ocpctl/internal/queue"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/outbox"
)

// propose asks for a proposal and returns what came of it.
func propose(t *testing.T, f *front, cause, was string) outbox.EffectState {
	t.Helper()
	content, err := json.Marshal(chatops.CatalogueProposal{Path: "catalogue/teams/shop.yaml", Was: was, Now: "name: shop\n", Title: "Add the shop", By: "Maya"})
	require.NoError(t, err)
	id := f.effect(clusters.Effect{Cause: cause, Kind: outbox.EffectProposeCatalogue, Content: string(content)})
	f.settle()
	state, err := f.store.Outbox.EffectState(f.ctx, id)
	require.NoError(t, err)
	return state
}

func allowContents(f *front) {
	m := hub.Registered()
	m.Permissions["contents"] = "write"
	f.hub.SetManifest(m)
}

func TestAProposalIsOpenedOnceHoweverOftenItIsTried(t *testing.T) {
	t.Parallel()
	f := newFront(t, quick)
	allowContents(f)
	f.hub.FailNext(1, hub.APIFault{After: true, Method: "POST", Path: "/pulls"})
	state := propose(t, f, "propose:1", "")
	require.False(t, state.GivenUp)
	var number int
	_, err := fmt.Sscanf(state.Note, "pull request #%d", &number)
	require.NoError(t, err, state.Note)
	opened, _ := f.hub.PullRequest(number)
	require.Equal(t, "Add the shop", opened.Title)
	require.Contains(t, opened.Body, "Proposed by Maya")
	document, _ := f.hub.FileAt(opened.HeadSHA, "catalogue/teams/shop.yaml")
	require.Equal(t, "name: shop\n", document)
	earlier, _ := f.hub.PullRequest(number - 1)
	require.NotEqual(t, opened.Title, earlier.Title)
	_, another := f.hub.PullRequest(number + 1)
	require.False(t, another)
}

func TestAProposalThatGitHubRefusesIsAFindingUntilOneIsOpened(t *testing.T) {
	t.Parallel()
	f := newFront(t, quick)
	state := propose(t, f, "propose:1", "")
	require.True(t, state.GivenUp)
	require.Contains(t, state.Note, "the App needs the permissions contents: write")
	found, err := f.store.Reports.WorkFindings(f.ctx)
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.Equal(t, "effect "+state.ID, found[0].Identity)
	require.Equal(t, []string{state.Note}, found[0].Evidence)

	allowContents(f)
	state = propose(t, f, "propose:2", "name: other\n")
	require.True(t, state.GivenUp, "the document changed")
	require.Contains(t, state.Note, "differs from the active document")
	require.False(t, propose(t, f, "propose:3", "").GivenUp)
	found, err = f.store.Reports.WorkFindings(f.ctx)
	require.NoError(t, err)
	require.Empty(t, found)
}

func TestAProposalThatIsTriedAgainSaysWhy(t *testing.T) {
	t.Parallel()
	f := newFront(t, quick)
	content, err := json.Marshal(chatops.CatalogueProposal{Path: "catalogue/teams/shop.yaml", Now: "name: shop\n", Title: "Add the shop", By: "Maya"})
	require.NoError(t, err)
	id := f.effect(clusters.Effect{Cause: "propose:1", Kind: outbox.EffectProposeCatalogue, Content: string(content)})
	f.hub.FailNext(1, hub.APIFault{Status: 502})
	require.Error(t, f.Work(f.ctx, queue.EffectArgs{Effect: id}, f.now()))
	state, err := f.store.Outbox.EffectState(f.ctx, id)
	require.NoError(t, err)
	require.Nil(t, state.DoneAt)
	require.Contains(t, state.Note, "502")
}
