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

// shop is the effect of a proposal.
func shop(t *testing.T, cause, was string) clusters.Effect {
	t.Helper()
	content, err := json.Marshal(chatops.CatalogueProposal{Path: "catalogue/teams/shop.yaml", Was: was, Now: "name: shop\n", Title: "Add the shop", By: "Maya"})
	require.NoError(t, err)
	return clusters.Effect{Cause: cause, Kind: outbox.EffectProposeCatalogue, Content: string(content)}
}

// propose asks for a proposal and returns what came of it.
func propose(t *testing.T, f *front, cause, was string) outbox.EffectState {
	t.Helper()
	id := f.effect(shop(t, cause, was))
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
	for _, lost := range []hub.APIFault{{Method: "POST", Path: "/git/refs"}, {Method: "PUT", Path: "/contents/"}, {Method: "POST", Path: "/pulls"}} {
		f := newFront(t, quick)
		allowContents(f)
		lost.After = true // GitHub did it, and the answer was lost
		f.hub.FailNext(1, lost)
		state := propose(t, f, "propose:1", "")
		require.False(t, state.GivenUp)
		number := numberIn(t, state.Note)
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
}

func TestAProposalThatWasMergedBeforeTheNextTryIsOpened(t *testing.T) {
	t.Parallel()
	f := newFront(t, quick)
	allowContents(f)
	id := f.effect(shop(t, "propose:1", ""))
	f.hub.FailNext(1, hub.APIFault{After: true, Method: "POST", Path: "/pulls"})
	require.Error(t, f.Work(f.ctx, queue.EffectArgs{Effect: id}, f.now()))
	number := 0
	for n := 1; n < 1000; n++ {
		if pr, there := f.hub.PullRequest(n); there && pr.Title == "Add the shop" {
			number = n
		}
	}
	require.NoError(t, f.hub.Merge(number, "maya"))
	f.settle()
	state, err := f.store.Outbox.EffectState(f.ctx, id)
	require.NoError(t, err)
	require.False(t, state.GivenUp, state.Note)
	require.Equal(t, number, numberIn(t, state.Note))
}

// numberIn is the number of the pull request in the result of a proposal.
func numberIn(t *testing.T, note string) (number int) {
	t.Helper()
	_, err := fmt.Sscanf(note, "pull request #%d", &number)
	require.NoError(t, err, note)
	return number
}

func TestAProposalThatGitHubRefusesIsAFindingUntilOneIsOpened(t *testing.T) {
	t.Parallel()
	f := newFront(t, quick)
	state := propose(t, f, "propose:1", "")
	require.True(t, state.GivenUp)
	require.Contains(t, state.Note, "check that the App has the permissions contents: write")
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
	id := f.effect(shop(t, "propose:1", ""))
	f.hub.FailNext(1, hub.APIFault{Status: 502})
	require.Error(t, f.Work(f.ctx, queue.EffectArgs{Effect: id}, f.now()))
	state, err := f.store.Outbox.EffectState(f.ctx, id)
	require.NoError(t, err)
	require.Nil(t, state.DoneAt)
	require.Contains(t, state.Note, "502")
}
