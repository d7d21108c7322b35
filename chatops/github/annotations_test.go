package github

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/chatops"
	standin "github.com/ocpctl/ocpctl/devstack/github"
)

func wrong(n int) chatops.CheckRun {
	run := chatops.CheckRun{Title: "wrong", Summary: "words", Status: "completed", Conclusion: "failure"}
	for i := range n {
		run.Annotations = append(run.Annotations, chatops.Annotation{
			Path: ".github/ocpctl.yaml", Line: i + 1, Level: "failure", Title: "ttl", Message: fmt.Sprintf("problem %d", i),
		})
	}
	return run
}

func TestAnnotationsTravelFiftyAtATime(t *testing.T) {
	server, c := start(t)
	target := check(server, 41)
	id, err := c.UpsertCheckRun(t.Context(), target, wrong(120))
	require.NoError(t, err)
	target.ExternalID = id
	again, err := c.UpsertCheckRun(t.Context(), target, wrong(120))
	require.NoError(t, err)
	require.Equal(t, id, again)

	got := server.Checks(41)[0].Annotations
	require.Len(t, got, 120, "what is there is not added again")
	last := got[119]
	require.Equal(t, []any{".github/ocpctl.yaml", 120, 120, "failure", "ttl", "problem 119"},
		[]any{last.Path, last.StartLine, last.EndLine, last.Level, last.Title, last.Message})
}

func TestALostAnswerAmongAnnotationsDoublesNone(t *testing.T) {
	for name, f := range map[string]standin.APIFault{
		"at the run":           {Method: http.MethodPost, Path: "/check-runs", After: true},
		"at the next fifty":    {Method: http.MethodPatch, Path: "/check-runs/", After: true},
		"before the next came": {Method: http.MethodPatch, Path: "/check-runs/", Status: 502},
	} {
		t.Run(name, func(t *testing.T) {
			server, c := start(t)
			server.FailNext(1, f)
			_, err := c.UpsertCheckRun(t.Context(), check(server, 41), wrong(120))
			require.Error(t, err)
			id, err := c.UpsertCheckRun(t.Context(), check(server, 41), wrong(120))
			require.NoError(t, err)
			all := server.Checks(41)
			require.Len(t, all, 1, "the run is found by its key")
			require.Equal(t, all[0].ID, id)
			require.Len(t, all[0].Annotations, 120)
		})
	}
}

func TestAnAnnotationThatIsNotTrueAnyMoreNeedsANewRun(t *testing.T) {
	server, c := start(t)
	target := check(server, 41)
	first, err := c.UpsertCheckRun(t.Context(), target, wrong(2))
	require.NoError(t, err)
	target.ExternalID = first
	second, err := c.UpsertCheckRun(t.Context(), target, wrong(1))
	require.NoError(t, err)
	require.NotEqual(t, first, second)
	target.ExternalID = second
	third, err := c.UpsertCheckRun(t.Context(), target, wrong(0))
	require.NoError(t, err)
	require.NotEqual(t, second, third)

	// A crash before the id was saved: the newest is found behind the one that was asked for.
	again, err := c.UpsertCheckRun(t.Context(), target, wrong(0))
	require.NoError(t, err)
	require.Equal(t, third, again)
	shown := map[int64]int{}
	for _, one := range server.Checks(41) {
		shown[one.ID] = len(one.Annotations)
	}
	require.Equal(t, map[int64]int{first: 2, second: 1, third: 0}, shown)
}

func TestButtonsAndTheAddressAreSentAndTakenAway(t *testing.T) {
	server, c := start(t)
	run := chatops.CheckRun{Title: "Going", Summary: "words", Status: "in_progress", DetailsURL: "https://ocp.example.com/c/cl_01", Actions: []chatops.CheckAction{
		{Label: "Extend", Description: "Two hours more", Identifier: chatops.ActionExtend},
		{Label: "Destroy", Description: "Now", Identifier: chatops.ActionDestroy},
	}}
	target := check(server, 41)
	id, err := c.UpsertCheckRun(t.Context(), target, run)
	require.NoError(t, err)
	got := server.Checks(41)[0]
	require.Equal(t, "https://ocp.example.com/c/cl_01", got.DetailsURL)
	require.Equal(t, []standin.CheckAction{
		{Label: "Extend", Description: "Two hours more", Identifier: "extend"}, {Label: "Destroy", Description: "Now", Identifier: "destroy"},
	}, got.Actions)

	target.ExternalID, run.Actions = id, nil
	_, err = c.UpsertCheckRun(t.Context(), target, run)
	require.NoError(t, err)
	require.Empty(t, server.Checks(41)[0].Actions)

	run.Actions = slices.Repeat([]chatops.CheckAction{{Label: "x"}}, 4)
	_, err = c.UpsertCheckRun(t.Context(), target, run)
	require.ErrorContains(t, err, "at most 3")
}

func TestTheSameRemarkIsMadeOnce(t *testing.T) {
	run := wrong(1)
	run.Annotations = append(run.Annotations, run.Annotations[0])
	run.Annotations[0].Line, run.Annotations[1].Line = 0, 1
	require.Len(t, uniqueAnnotations(run.Annotations), 1, "GitHub counts lines from 1")
}
