package hooks

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"pgregory.net/rapid"

	"github.com/ocpctl/ocpctl/devstack/github"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store/clusters"
)

// pulled is what a simple model remembers of a pull request; how it stands now, GitHub says.
type pulled struct {
	number   int
	destroys int      // commands to destroy the first profile's cluster
	strange  []string // labels set by somebody who may not ask
}

// userActions are what people do to a pull request. What GitHub does not let them do changes nothing.
var userActions = map[string]func(l *life, t *rapid.T, pr *pulled){
	"label": func(l *life, t *rapid.T, pr *pulled) {
		_ = l.github.Label(pr.number, aLabel(t), "will")
	},
	"label by somebody who may not": func(l *life, t *rapid.T, pr *pulled) {
		label := aLabel(t)
		if !slices.Contains(l.at(pr.number).Labels, label) {
			pr.strange = append(pr.strange, label)
		}
		_ = l.github.Label(pr.number, label, "rob")
	},
	"unlabel": func(l *life, t *rapid.T, pr *pulled) { _ = l.github.Unlabel(pr.number, aLabel(t), "will") },
	"relabel": func(l *life, t *rapid.T, pr *pulled) {
		label := aLabel(t)
		_ = l.github.Unlabel(pr.number, label, "will")
		_ = l.github.Label(pr.number, label, "will")
	},
	"ttl": func(l *life, t *rapid.T, pr *pulled) {
		_ = l.github.Label(pr.number, rapid.SampledFrom([]string{"ocp-ttl/3", "ocp-ttl/6", "ocp-ttl/never"}).Draw(t, "ttl"), "will")
	},
	"close":  func(l *life, _ *rapid.T, pr *pulled) { _ = l.github.Close(pr.number, "will") },
	"reopen": func(l *life, _ *rapid.T, pr *pulled) { _ = l.github.Reopen(pr.number, "will") },
	"branch": func(l *life, _ *rapid.T, pr *pulled) { _ = l.github.DeleteBranch(pr.number, "will") },
	"push":   func(l *life, _ *rapid.T, pr *pulled) { _ = l.github.Push(pr.number, "will") },
	"draft":  func(l *life, _ *rapid.T, pr *pulled) { _ = l.github.SetDraft(pr.number, true, "will") },
	"ready":  func(l *life, _ *rapid.T, pr *pulled) { _ = l.github.SetDraft(pr.number, false, "will") },
	"create": func(l *life, _ *rapid.T, pr *pulled) { l.say(pr.number, "/ocp create") },
	"destroy": func(l *life, _ *rapid.T, pr *pulled) {
		pr.destroys++
		l.say(pr.number, "/ocp destroy "+first)
	},
}

// likely are the actions that are done more often than others: most lives are to end with something that is wanted.
var likely = map[string]int{"label": 4, "relabel": 3, "reopen": 2, "ready": 2}

func aLabel(t *rapid.T) string {
	return "ocp/" + rapid.SampledFrom([]string{first, second}).Draw(t, "profile")
}

// fates are what becomes of the next webhooks. Often they just come.
var fates = map[string]func(l *life, n int){
	"come": func(*life, int) {}, "are lost": func(l *life, n int) { l.github.DropNext(n) },
	"are doubled": func(l *life, n int) { l.github.DuplicateNext(n) }, "are late": func(l *life, n int) { l.github.HoldNext(n) },
}

// fate lets something become of the next webhooks, and of none after them.
func (l *life) fate(name string) {
	l.github.DropNext(0)
	l.github.DuplicateNext(0)
	l.github.HoldNext(0)
	fates[name](l, 2)
}

// haps are what else happens.
var haps = map[string]func(l *life, t *rapid.T){
	"release": func(l *life, _ *rapid.T) { l.github.Release() }, // the newest first
	"tick":    func(l *life, t *rapid.T) { l.tick(time.Second) },
	"work":    func(l *life, t *rapid.T) { l.workSome(t) },
	"effects": func(l *life, _ *rapid.T) { l.makeEffects() },
	"poll":    func(l *life, _ *rapid.T) { _ = l.poller.Look(l.Context()) },
	"read":    func(l *life, _ *rapid.T) { _ = l.read(l.Context()) },
	"outage": func(l *life, t *rapid.T) {
		l.github.FailNext(rapid.IntRange(1, 3).Draw(t, "n"), github.APIFault{Status: http.StatusBadGateway, Message: "Server Error"})
	},
}

// workSome works some of what waits in any order, all at once.
func (l *life) workSome(t *rapid.T) {
	rows := l.undone()
	if len(rows) == 0 {
		return
	}
	rows = rapid.Permutation(rows).Draw(t, "order")[:rapid.IntRange(1, min(len(rows), 4)).Draw(t, "of them")]
	var group errgroup.Group
	for _, row := range rows {
		group.Go(func() error {
			_ = l.work(row) // what fails is tried again
			return nil
		})
	}
	_ = group.Wait()
}

// read reads what never came, unless GitHub forgot it: then polling alone sees what is over.
func (l *life) read(ctx context.Context) error {
	if l.forgetful {
		return nil
	}
	return l.missed.Read(ctx)
}

func (l *life) at(number int) github.PullRequest {
	l.Helper()
	pr, there := l.github.PullRequest(number)
	require.True(l, there)
	return pr
}

// TestWhateverBefallsWebhooksTheClustersFollowTheirPullRequests lives random lives of several pull requests: of their webhooks
// some are lost, doubled, late or swapped, GitHub fails now and then, and work happens in any order and beside each other. When
// everything was let in at last, each cluster is as GitHub says that its pull request stands. make seeds lives more of them;
// -rapid.seed lives one again, which is printed when it fails.
func TestWhateverBefallsWebhooksTheClustersFollowTheirPullRequests(t *testing.T) {
	if old := flag.Lookup("rapid.checks").Value.String(); old == "100" {
		require.NoError(t, flag.Set("rapid.checks", "20"))
		t.Cleanup(func() { require.NoError(t, flag.Set("rapid.checks", old)) })
	}
	l := newLife(t)
	require.NoError(t, l.github.Commit(".github/ocpctl.yaml", "drafts: deny\n"))
	rapid.Check(t, func(t *rapid.T) {
		outer := l.tester
		l.tester = t
		defer func() { l.tester = outer }()
		l.catchUp()
		l.forgetful = rapid.Bool().Draw(t, "GitHub forgets what it sent")
		pulls := []*pulled{{number: l.open()}, {number: l.open()}}
		for _, pr := range pulls {
			l.label(pr.number, aLabel(t))
		}
		if rapid.Bool().Draw(t, "clusters stand from the start") {
			l.settle()
		}
		actions := map[string]func(*rapid.T){}
		for name, origin := range userActions {
			for often := range max(1, likely[name]) {
				actions[fmt.Sprint(name, " ", often)] = func(t *rapid.T) {
					l.fate(rapid.SampledFrom(slices.Sorted(maps.Keys(fates))).Draw(t, "webhooks"))
					origin(l, t, rapid.SampledFrom(pulls).Draw(t, "pull request"))
					l.arrive()
				}
			}
		}
		for name, hap := range haps {
			actions[name] = func(t *rapid.T) { hap(l, t); l.arrive() }
		}
		t.Repeat(actions)
		l.comeToRest()
		for _, pr := range pulls {
			l.check(*pr)
		}
		l.clear(pulls)
	})
}

// comeToRest ends all trouble, lets everything in, and has everybody look once more.
func (l *life) comeToRest() {
	l.fate("come")
	l.github.Recover() // polling logs GitHub's errors and goes on: an outage that outlasts its last round would hide what it is to find
	l.settle()
	l.catchUp()
	l.surely(l.read)
	l.settle()
	l.surely(l.poller.Look)
	l.settle()
	l.surely(func(ctx context.Context) error { return l.poller.pollOnce(ctx, time.Now().Add(still+time.Minute)) }) // and after a while of peace
	l.settle()
	require.Empty(l, l.query(`SELECT concat_ws(' ', delivery_id, event, note) FROM deliveries WHERE state <> 'done'`))
}

// check holds the pull request's clusters against how it stands.
func (l *life) check(pr pulled) {
	t := l.tester
	is := l.at(pr.number)
	said := func(what string) string {
		return fmt.Sprintf("%s: #%d %+v, open %t, draft %t, labels %v\n%s", what, pr.number, pr, is.Open, is.Draft, is.Labels,
			strings.Join(l.query(`SELECT concat_ws(' ', id, delivery_id, event, convert_from(body, 'UTF8')::jsonb ->> 'action',
				convert_from(body, 'UTF8')::jsonb #>> '{label,name}', note) FROM deliveries WHERE topic = $1 ORDER BY id`, pullTopic(github.Repo, pr.number)), "\n"))
	}
	for _, profile := range []string{first, second} {
		labelled := slices.Contains(is.Labels, "ocp/"+profile)
		row, there := l.wanted(pr.number, profile)
		if !there {
			ended := profile == first && pr.destroys > 0
			if is.Open && !is.Draft && labelled && !ended && !slices.Contains(pr.strange, "ocp/"+profile) && !l.forgetful {
				require.Fail(t, said("its label asks for "+profile))
			}
			continue
		}
		require.Equal(t, !is.Open || is.Draft, !row.Ends.PRClosed.IsZero(), said(row.Name+" ends with its pull request, and with nothing else"))
		byLabel := row.Source == string(policy.SourceLabel)
		require.Equal(t, byLabel && !labelled, !row.Ends.LabelRemoved.IsZero(), said(row.Name+" ends with its label, and with nothing else"))
		require.False(t, row.Ends.TTL.After(row.Ends.Max), said("nothing passes the maximum"))
		if is.Open {
			heads := l.query(`SELECT head FROM subscribers WHERE cluster_id = $1 AND kind = 'github_check' AND NOT left_behind`, row.ID)
			require.Equal(t, []string{is.HeadSHA}, heads, said("its check is on the newest commit"))
		}
	}
	generations := map[string]int{}
	for _, row := range l.clusters(pr.number) {
		generations[row.Profile]++
		require.NotEqual(t, "github:id/2004", row.RequestedBy, said("whoever may not ask asked for nothing"))
	}
	require.LessOrEqual(t, generations[first], 1+pr.destroys, said("a new generation follows from nothing but an end"))
	require.LessOrEqual(t, generations[second], 1, said("nobody ended it"))
}

// clear ends what a life leaves, so that the next one looks at its own alone.
func (l *life) clear(pulls []*pulled) {
	for _, pr := range pulls {
		for _, row := range l.clusters(pr.number) {
			if row.Desired == lifecycle.Present {
				_, err := l.store.Destroy(l.Context(), row.ID, clusters.Origin{Actor: "test", Why: "the life is over"})
				require.NoError(l, err)
			}
		}
	}
}

func TestACloseThatComesBeforeTheLabelItFollowedLetsNothingBegin(t *testing.T) {
	l := newLife(t)
	number := l.open()
	l.settle()
	l.tick(time.Second)
	l.github.HoldNext(1)
	l.label(number, "ocp/"+first)
	l.tick(time.Second)
	require.NoError(t, l.github.Close(number, "will"))
	l.arrive()
	for _, row := range l.undone() {
		require.NoError(t, l.work(row))
	}
	l.settle()
	require.Empty(t, l.clusters(number), "the label came last, and the truth is that it is closed")
	l.tick(time.Second)
	require.NoError(t, l.github.Reopen(number, "will"))
	l.settle()
	require.Zero(t, l.one(number, first).Ends.PRClosed)
}

func TestWhatIsAskedForWhileTheOldOneGoesIsANewGeneration(t *testing.T) {
	l := newLife(t)
	number := l.open()
	l.label(number, "ocp/"+first)
	l.settle()
	l.say(number, "/ocp destroy")
	l.say(number, "/ocp create")
	l.say(number, "/ocp create")
	l.settle()
	rows := l.clusters(number)
	require.Len(t, rows, 2)
	require.Equal(t, lifecycle.Absent, rows[0].Desired)
	require.Equal(t, 2, l.one(number, first).Generation)
	require.NotEqual(t, rows[0].Name, rows[1].Name, "it waits for no teardown")
}

func TestALabelThatFlapsTenTimesASecondIsOneCluster(t *testing.T) {
	l := newLife(t)
	number := l.open()
	l.github.DuplicateNext(7)
	for range 10 { // the clock stands: all are of one second
		l.label(number, "ocp/"+first)
		l.unlabel(number, "ocp/"+first)
	}
	l.label(number, "ocp/"+first)
	l.arrive()
	rows := l.undone()
	slices.Reverse(rows)
	var group errgroup.Group
	for _, row := range rows {
		group.Go(func() error { return l.work(row) })
	}
	require.NoError(t, group.Wait())
	l.settle()
	require.Len(t, l.clusters(number), 1)
	require.Zero(t, l.one(number, first).Ends.LabelRemoved)
}

func TestADeletedBranchClosesItsPullRequestAndThatEndsTheCluster(t *testing.T) {
	for name, got := range map[string]bool{"told": true, "seen by polling": false} {
		t.Run(name, func(t *testing.T) {
			l := newLife(t)
			number := l.open()
			l.label(number, "ocp/"+first)
			l.settle()
			if !got {
				l.github.DropNext(1)
			}
			require.NoError(t, l.github.DeleteBranch(number, "will"))
			require.NoError(t, l.poller.Look(t.Context()))
			l.settle()
			require.NotZero(t, l.one(number, first).Ends.PRClosed)
			require.Equal(t, lifecycle.ReasonPRClosed, l.one(number, first).Ends.Reason().Code)
		})
	}
}

func TestTwoProfilesAtOnceAreTwoClusters(t *testing.T) {
	l := newLife(t)
	number := l.open()
	l.label(number, "ocp/"+first)
	l.label(number, "ocp/"+second)
	l.settle()
	require.Len(t, l.clusters(number), 2)
	l.unlabel(number, "ocp/"+first)
	l.settle()
	require.NotZero(t, l.one(number, first).Ends.LabelRemoved)
	require.Zero(t, l.one(number, second).Ends.LabelRemoved)
}

func TestTheSameLabelOnTwoHundredPullRequestsIsTwoHundredClusters(t *testing.T) {
	l := newLife(t)
	const many = 200
	numbers := make([]int, many)
	for i := range numbers {
		numbers[i] = l.open()
		l.label(numbers[i], "ocp/"+first)
	}
	l.arrive()
	rows := l.undone()
	var next atomic.Int64
	var group errgroup.Group
	for range 8 {
		group.Go(func() error {
			for i := next.Add(1) - 1; i < int64(len(rows)); i = next.Add(1) - 1 {
				if err := l.work(rows[i]); err != nil {
					return err
				}
			}
			return nil
		})
	}
	require.NoError(t, group.Wait())
	names := map[string]bool{}
	for _, number := range numbers {
		names[l.one(number, first).Name] = true
	}
	require.Len(t, names, many)
	calls := l.github.CallsByRoute()
	require.NoError(t, l.poller.Look(t.Context()))
	require.Equal(t, calls["POST /graphql"]+many/lookEach, l.github.CallsByRoute()["POST /graphql"], "a hundred are one question")
	require.Empty(t, l.undone(), "and nobody has news")
}
