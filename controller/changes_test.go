package controller_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/chatops"
	hub "github.com/ocpctl/ocpctl/devstack/github"
	"github.com/ocpctl/ocpctl/internal/queue"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/outbox"
)

// catalogue is one that remarks on a file's length, and has two labels.
type catalogue struct{}

func (catalogue) FileProblems(raw []byte) (out []chatops.Annotation) {
	for i, line := range strings.Split(string(raw), "\n") {
		if level, _, found := strings.Cut(line, "!"); found {
			out = append(out, chatops.Annotation{Line: i + 1, Level: level, Title: "ttl", Message: "too long"})
		}
	}
	return out
}

func (catalogue) OurLabels(context.Context, int64, string) ([]chatops.Label, error) {
	return []chatops.Label{{Name: "ocp/aws-minimal-test", Color: "1d76db", Description: "A cluster"}, {Name: chatops.KeepLabel, Color: "fbca04", Description: "Keeps it"}}, nil
}

func TestAReactionIsMadeOnce(t *testing.T) {
	t.Parallel()
	f := newFront(t, quick)
	comment, err := f.hub.Comment(41, "/ocp status", "maya")
	require.NoError(t, err)
	f.hub.FailNext(1, hub.APIFault{After: true, Method: "POST", Path: "/reactions"})
	id := f.effect(clusters.Effect{Cause: "react:1", Kind: outbox.EffectReact, Number: 41, Target: comment, Content: "eyes"})
	f.settle()
	require.Equal(t, map[string][]string{"eyes": {hub.Bot}}, f.hub.Comments(41)[0].Reactions)
	require.Equal(t, "reacted", f.note(id))
	calls := len(f.hub.Calls())
	f.work(queue.EffectArgs{Effect: id})
	require.Len(t, f.hub.Calls(), calls, "what is done is done")

	gone := f.effect(clusters.Effect{Cause: "react:2", Kind: outbox.EffectReact, Number: 41, Target: comment + 1000, Content: "eyes"})
	f.settle()
	require.Equal(t, "the comment no longer exists", f.note(gone))
}

func TestALabelIsPutOnAndTakenOffByWhatStands(t *testing.T) {
	t.Parallel()
	f := newFront(t, quick)
	has := func() bool {
		pr, _ := f.hub.PullRequest(41)
		return pr.Has("ocp/aws-minimal-test")
	}
	change := func(cause string, kind clusters.EffectKind) string {
		id := f.effect(clusters.Effect{Cause: cause, Kind: kind, Number: 41, Content: "ocp/aws-minimal-test"})
		f.settle()
		return f.note(id)
	}
	require.NoError(t, f.hub.Label(41, "ocp/aws-minimal-test", "rita"))
	require.Equal(t, "removed", change("refused", outbox.EffectRemoveLabel))
	require.False(t, has())
	require.Equal(t, "not added: no cluster exists for it", change("nobody's", outbox.EffectAddLabel))
	require.False(t, has())

	row := f.asked("shop", 41)
	require.Equal(t, "not removed: a cluster exists for it", change("refused before", outbox.EffectRemoveLabel))
	require.True(t, has())
	require.NoError(t, f.hub.Unlabel(41, "ocp/aws-minimal-test", hub.Bot))
	require.Equal(t, "added", change("ours", outbox.EffectAddLabel))
	require.True(t, has())

	require.NoError(t, f.hub.Unlabel(41, "ocp/aws-minimal-test", "maya"))
	require.NoError(t, f.store.SetEnd(f.ctx, row.ID, clusters.EndLabelRemoved, new(f.now().Add(time.Hour)), lifecycle.Reason{}, "github:maya"))
	require.Equal(t, "not added: no cluster exists for it", change("a person's", outbox.EffectAddLabel))
	require.False(t, has(), "a person took it off since")
}

func TestARepositoryGetsAllLabels(t *testing.T) {
	t.Parallel()
	f := newFront(t, quick)
	e := clusters.Effect{Cause: "labels:1", Kind: outbox.EffectEnsureLabels}
	id := f.effect(e)
	_, err := f.store.Pool().Exec(f.ctx, `UPDATE effects SET installation = 0 WHERE id = $1`, id)
	require.NoError(t, err, "as where nobody asked GitHub for it")
	f.settle()
	require.Equal(t, "made: ocp/keep; changed: ocp/aws-minimal-test", f.note(id))
	colors := map[string]string{}
	for _, l := range f.hub.Labels() {
		colors[l.Name] = l.Color
	}
	require.Equal(t, []string{"1d76db", "fbca04"}, []string{colors["ocp/aws-minimal-test"], colors[chatops.KeepLabel]})
}

func TestWhoAskedForLabelsIsToldAtOnceWhatGitHubRefuses(t *testing.T) {
	t.Parallel()
	for name, refuse := range map[string]func(f *front){
		"the App is not installed": func(f *front) { require.NoError(t, f.hub.Uninstall("maya")) },
		"it may not write issues": func(f *front) {
			m := hub.Registered()
			m.Permissions["issues"] = "read"
			f.hub.SetManifest(m)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFront(t, quick)
			refuse(f)
			id := f.effect(clusters.Effect{Cause: "labels:1", Kind: outbox.EffectEnsureLabels})
			f.settle()
			state, err := f.store.Outbox.EffectState(f.ctx, id)
			require.NoError(t, err)
			require.True(t, state.GivenUp, state.Note)
		})
	}
}

func TestTheRepositorysFileIsCheckedOnTheHead(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ file, conclusion, title, level string }{
		"fine":      {"ttl: 4h\n", "success", "is fine", ""},
		"of no use": {"version: 1\nwarning!\n", "neutral", "has a problem", "warning"},
		"wrong":     {"version: 1\nfailure!\n", "failure", "has a problem", "failure"},
		"deleted":   {"", "neutral", "is deleted", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFront(t, quick)
			if c.file != "" {
				require.NoError(t, f.hub.PushFile(41, profiles.RepositoryFilePath, c.file, "maya"))
			}
			pr, _ := f.hub.PullRequest(41)
			f.hub.FailNext(1, hub.APIFault{After: true, Method: "POST", Path: "/check-runs"})
			id := f.effect(clusters.Effect{Cause: "check:1", Kind: outbox.EffectCheckConfig, Number: 41, Content: pr.HeadSHA})
			f.settle()
			runs := f.hub.ChecksOf(pr.HeadSHA)
			require.Len(t, runs, 1, "killed between posting and remembering, and still one")
			require.Equal(t, []string{chatops.ConfigCheckName, "completed", c.conclusion}, []string{runs[0].Name, runs[0].Status, runs[0].Conclusion})
			require.Equal(t, profiles.RepositoryFilePath+" "+c.title, f.note(id))
			if c.level == "" {
				require.Empty(t, runs[0].Annotations)
				return
			}
			got := runs[0].Annotations[0]
			require.Equal(t, []any{profiles.RepositoryFilePath, 2, c.level, "too long"}, []any{got.Path, got.StartLine, got.Level, got.Message})
		})
	}
}

func TestAChangeThatIsRefusedIsGivenUpInWords(t *testing.T) {
	t.Parallel()
	f := newFront(t, quick)
	id := f.effect(clusters.Effect{Cause: "check:1", Kind: outbox.EffectCheckConfig, Number: 41, Content: strings.Repeat("0", 40)})
	job := queue.EffectArgs{Effect: id}
	require.Equal(t, 10*time.Minute, f.snoozes(job, f.now()))
	asked := func(ago time.Duration) { // the queue's job may have been made again since
		_, err := f.store.Pool().Exec(f.ctx, `UPDATE effects SET created_at = $2, refused_since = $2 WHERE id = $1`, id, f.now().Add(-ago))
		require.NoError(t, err)
	}
	asked(59 * time.Minute)
	require.Equal(t, 59*time.Minute, f.snoozes(job, f.now().Add(-59*time.Minute)))
	require.False(t, f.isDone(id))
	asked(time.Hour)
	require.NoError(t, f.Work(f.ctx, job, f.now()))
	require.Contains(t, f.note(id), "given up: ")
	require.Contains(t, f.note(id), "refused by GitHub")
	require.NoError(t, f.Work(f.ctx, queue.EffectArgs{Effect: "eff_none"}, f.now()))
}

// GitHub was away for longer than a refusal is tolerated. The first refusal after that is still only one.
func TestOneRefusalAfterGitHubWasAwayIsNoAnswer(t *testing.T) {
	t.Parallel()
	f := newFront(t, quick)
	id := f.effect(clusters.Effect{Cause: "check:1", Kind: outbox.EffectCheckConfig, Number: 41, Content: strings.Repeat("0", 40)})
	job := queue.EffectArgs{Effect: id}
	f.hub.FailNext(1, hub.APIFault{Status: 502})
	require.Error(t, f.Work(f.ctx, job, f.now()))
	pass := func(d time.Duration) {
		at := f.now().Add(d)
		f.clock.Store(&at)
	}
	pass(3 * time.Hour)
	f.snoozes(job, f.now().Add(-3*time.Hour))
	require.False(t, f.isDone(id))
	pass(50 * time.Minute)
	f.hub.FailNext(1, hub.APIFault{Status: 502})
	require.Error(t, f.Work(f.ctx, job, f.now()), "another answer in between")
	pass(50 * time.Minute)
	f.snoozes(job, f.now().Add(-4*time.Hour))
	require.False(t, f.isDone(id))
	pass(time.Hour)
	require.NoError(t, f.Work(f.ctx, job, f.now()))
	require.Contains(t, f.note(id), "given up: ")
}
