// Package cloudtest is the suite that every cloud has to pass: what package runner relies on, whatever the cloud is called.
//
// A cloud's own tests give it a Scene: a stand-in of the cloud, the client under test, and the programs that make and remove clusters there.
// What only one cloud has is tested beside its client.
package cloudtest

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/runner"
	"github.com/ocpctl/ocpctl/runner/cloud"
)

// Scene is one test's stand-in cloud. It has the zone of the base domain, and no cluster.
type Scene interface {
	Client() runner.Cloud
	// Stranger is a client with credentials that the cloud does not know.
	Stranger(t *testing.T) runner.Cloud
	// Target is a cluster of which nothing was recorded yet. Its account is that of the client's credentials.
	Target(name string) cloud.Target
	// Plan is what a small cluster asks for: three control-plane machines in one zone.
	Plan() cloud.Plan

	// Create makes a cluster as a runner does, and returns the target with what was recorded.
	Create(t *testing.T, target cloud.Target) cloud.Target
	// Destroy runs the installer's destroyer, if it may run, and ccoctl's delete, as a runner does before it calls Remove.
	Destroy(t *testing.T, target cloud.Target, destroyer bool)
	// LookAlikes makes things of others that resemble the target's, and returns their ids as leftovers and deletions name them. Among them are a
	// VPC called my-<infraID>-vpc, and what has a name that goes on where the target's infraID or ccoctl's name ends.
	LookAlikes(t *testing.T, target cloud.Target) (ids []string)
	// PlantOlder makes things of others that were made at a time, and gives them what marks the target's own, whatever that is in this cloud. It
	// returns their ids as Contested names them.
	PlantOlder(t *testing.T, target cloud.Target, made time.Time) (ids []string)

	// PlantElsewhere makes things that somebody made of the target's in another region, with its tags: a snapshot and an image that a removal
	// deletes, and things that it leaves to people, one of them made at a time. It returns their ids as leftovers name them.
	PlantElsewhere(t *testing.T, target cloud.Target, made time.Time) (deleted, left []string)

	// Left lists everything in the cloud that mentions the text: one line each, with its type first, and its id.
	Left(text string) []string
	// Refuse has the cloud refuse every call of the client that lists machines, until Answer.
	Refuse()
	Answer()
	// Busy makes the cloud's pages short and has it throttle calls now and then.
	Busy()
}

// Run runs the suite; start starts a scene for each test.
func Run(t *testing.T, start func(t *testing.T) Scene) {
	for name, test := range map[string]func(*testing.T, Scene){
		"the account is that of the credentials":                     checkAccount,
		"an empty cloud is clean, and the proof says what was asked": checkEmpty,
		"a name that is free passes preflight, one in use does not":  checkPreflight,
		"a life leaves nothing, and touches nobody else's":           checkLife,
		"what was not answered is a finding":                         checkRefused,
		"a busy cloud gives the same answers":                        checkBusy,
		"limits tell usage and need, and its end gives all back":     checkQuotas,
		"machines are stopped and started, and no one else's":        checkPower,
		"preparing twice makes one thing":                            checkPrepare,
		"nothing is removed of which nothing was recorded":           checkUnrecorded,
		"what is older than the cluster is contested":                checkOlder,
		"what has its tags in another region is removed, or blocks":  checkEverywhere,
	} {
		t.Run(name, func(t *testing.T) { test(t, start(t)) })
	}
}

func checkAccount(t *testing.T, s Scene) {
	id, err := s.Client().Account(t.Context())
	require.NoError(t, err)
	require.Equal(t, s.Target("shop").Account, id)
	_, err = s.Stranger(t).Account(t.Context())
	require.ErrorIs(t, err, cloud.ErrCredentials)
}

func checkEmpty(t *testing.T, s Scene) {
	target := s.Target("shop")
	target.Identities = []contract.Identity{
		{InfraID: "shop-x7k2p", CCOName: "shop-abcdefghij", Account: target.Account, Region: target.Region}, {InfraID: "shop-b4d9w", Account: target.Account, Region: target.Region},
	}
	pass := s.Client().Verify(t.Context(), target)
	require.Empty(t, pass.Leftovers)
	require.True(t, pass.Clean)
	require.Contains(t, pass.Control, target.Account)
	require.Contains(t, pass.Control, target.BaseDomain)
	require.Equal(t, target.Account, pass.Account)
	require.Equal(t, []string{"shop-x7k2p", "shop-b4d9w", "shop-abcdefghij"}, pass.Identities)
	require.Greater(t, len(pass.Queries), 10)
	for _, q := range pass.Queries {
		require.Empty(t, q.Err, q)
		require.False(t, q.At.IsZero(), q)
		require.NotEmpty(t, q.Service, q)
		require.NotEmpty(t, q.Call, q)
	}
	contested, err := s.Client().Contested(t.Context(), target)
	require.NoError(t, err)
	require.Empty(t, contested)
	deleted, err := s.Client().Remove(t.Context(), target)
	require.NoError(t, err)
	require.Empty(t, deleted)
}

func checkPreflight(t *testing.T, s Scene) {
	target, plan := s.Target("shop"), s.Plan()
	problems, err := s.Client().Preflight(t.Context(), target, plan.Zones, []string{plan.Machines[0].Type})
	require.NoError(t, err)
	require.Empty(t, blockingCodes(t, problems))
	s.Create(t, target)
	problems, err = s.Client().Preflight(t.Context(), target, plan.Zones, []string{plan.Machines[0].Type})
	require.NoError(t, err)
	require.Equal(t, []string{"NameInUse"}, blockingCodes(t, problems))

	other := s.Target("bank")
	other.BaseDomain = "nowhere.example.org"
	problems, err = s.Client().Preflight(t.Context(), other, []string{plan.Zones[0] + "9"}, []string{"zz9.nothing"})
	require.NoError(t, err)
	require.ElementsMatch(t, []string{"ZoneMissing", "ZoneNotOffered", "InstanceTypeNotOffered"}, blockingCodes(t, problems))
}

// blockingCodes returns the codes of the problems that end an attempt. Each says what is wrong, what to do and who can do it.
func blockingCodes(t *testing.T, problems []cloud.Problem) (codes []string) {
	for _, p := range problems {
		require.NotEmpty(t, p.Message, p)
		require.NotEmpty(t, p.Next, p)
		require.NotEmpty(t, p.Whose, p)
		if p.Block {
			codes = append(codes, p.Code)
		}
	}
	return codes
}

func checkLife(t *testing.T, s Scene) {
	target := s.Create(t, s.Target("shop"))
	infraID, ccoName := newestIdentity(target)
	require.NotEmpty(t, s.Left(infraID))
	require.NotEmpty(t, s.Left(ccoName))
	foreign := s.LookAlikes(t, target)
	require.NotEmpty(t, foreign)

	pass := s.Client().Verify(t.Context(), target)
	require.False(t, pass.Clean)
	for _, left := range pass.Leftovers {
		require.NotEmpty(t, left.Advice(), left)
		require.NotContains(t, foreign, left.ID, "nobody else's is counted")
	}

	tearDown(t, s, target, foreign)
	require.Empty(t, removeLines(s.Left(infraID), foreign), "counted by the stand-in")
	require.Empty(t, removeLines(s.Left(ccoName), foreign), "counted by the stand-in")
	for _, id := range foreign {
		require.NotEmpty(t, s.Left(id), "somebody else's %s is gone", id)
	}
	deleted, err := s.Client().Remove(t.Context(), target)
	require.NoError(t, err, "again, and nothing is there")
	require.Empty(t, deleted)
}

// tearDown removes a cluster in a runner's order: what others own too stops it, and what only mentions the cluster stops the destroyer that
// would take it.
func tearDown(t *testing.T, s Scene, target cloud.Target, foreign []string) {
	t.Helper()
	contested, err := s.Client().Contested(t.Context(), target)
	require.NoError(t, err)
	for _, c := range contested {
		require.True(t, c.Mention, "nobody else has a mark on it: %+v", c)
	}
	deleted, err := s.Client().Detach(t.Context(), target)
	require.NoError(t, err)
	s.Destroy(t, target, len(contested) == 0)
	until := time.Now().Add(30 * time.Second)
	var pass contract.Pass
	for pass = s.Client().Verify(t.Context(), target); !pass.Clean && time.Now().Before(until); pass = s.Client().Verify(t.Context(), target) {
		removed, err := s.Client().Remove(t.Context(), target)
		require.NoError(t, err)
		deleted = append(deleted, removed...)
	}
	require.Empty(t, pass.Leftovers)
	require.True(t, pass.Clean)
	for _, id := range foreign {
		require.NotContains(t, deleted, id)
	}
}

// removeLines leaves out the lines that mention one of the ids.
func removeLines(lines, ids []string) (rest []string) {
	for _, line := range lines {
		if !slices.ContainsFunc(ids, func(id string) bool { return strings.Contains(line, id) }) {
			rest = append(rest, line)
		}
	}
	return rest
}

// checkOlder gives other people's things everything by which a cluster's own are found, as anybody in the account can.
func checkOlder(t *testing.T, s Scene) {
	accepted, year := time.Now(), time.Now().AddDate(-1, 0, 0).UTC().Truncate(time.Second)
	target := s.Create(t, s.Target("shop"))
	target.Accepted = accepted
	contested, err := s.Client().Contested(t.Context(), target)
	require.NoError(t, err)
	require.Empty(t, contested, "its own resources")

	var want, found []string
	for _, id := range s.PlantOlder(t, target, year) {
		want = append(want, id+" made at "+year.Format("2006-01-02T15:04"))
	}
	contested, err = s.Client().Contested(t.Context(), target)
	require.NoError(t, err)
	for _, c := range contested {
		require.False(t, c.Mention, "nothing is deleted while it is there: %+v", c)
		require.Regexp(t, `^made at \S+Z, before the cluster was accepted$`, c.Mark)
		found = append(found, c.ID+" "+c.Mark[:len("made at 2006-01-02T15:04")])
	}
	require.ElementsMatch(t, want, found)

	target.Accepted = time.Time{}
	contested, err = s.Client().Contested(t.Context(), target)
	require.NoError(t, err)
	require.Empty(t, contested, "nobody knows when the cluster was accepted")
}

// newestIdentity returns what was recorded of the cluster that was created last.
func newestIdentity(target cloud.Target) (infraID, ccoName string) {
	for _, id := range target.Identities {
		if id.InfraID != "" {
			infraID = id.InfraID
		}
		if id.CCOName != "" {
			ccoName = id.CCOName
		}
	}
	return infraID, ccoName
}

func checkRefused(t *testing.T, s Scene) {
	target := s.Target("shop")
	target.Identities = []contract.Identity{{InfraID: "shop-x7k2p", Account: target.Account, Region: target.Region}}
	s.Refuse()
	pass := s.Client().Verify(t.Context(), target)
	require.False(t, pass.Clean)
	require.True(t, slices.ContainsFunc(pass.Queries, func(q contract.Query) bool { return q.Err != "" }))
	require.True(t, slices.ContainsFunc(pass.Leftovers, func(l contract.Leftover) bool { return l.Type == "refused-query" }), pass.Leftovers)
	_, err := s.Client().Machines(t.Context(), target)
	require.Error(t, err)
	s.Answer()
	require.True(t, s.Client().Verify(t.Context(), target).Clean)

	elsewhere := target
	elsewhere.Account = strings.Repeat("9", len(target.Account))
	pass = s.Client().Verify(t.Context(), elsewhere)
	require.False(t, pass.Clean)
	require.True(t, slices.ContainsFunc(pass.Leftovers, func(l contract.Leftover) bool { return l.Type == "wrong-account" }), pass.Leftovers)

	hidden := target
	hidden.BaseDomain = "nowhere.example.org"
	pass = s.Client().Verify(t.Context(), hidden)
	require.False(t, pass.Clean, "records in a zone that cannot be seen are not known to be gone")
}

func checkBusy(t *testing.T, s Scene) {
	target := s.Create(t, s.Target("shop"))
	calm := s.Client().Verify(t.Context(), target)
	s.Busy()
	loud := s.Client().Verify(t.Context(), target)
	require.ElementsMatch(t, calm.Leftovers, loud.Leftovers)
}

func checkQuotas(t *testing.T, s Scene) {
	target, plan := s.Target("shop"), s.Plan()
	before, err := s.Client().Quotas(t.Context(), target, plan)
	require.NoError(t, err)
	require.NotEmpty(t, before)
	target = s.Create(t, target)
	_, group := newestIdentity(target)
	after, err := s.Client().Quotas(t.Context(), s.Target("bank"), plan)
	require.NoError(t, err)
	grew := false
	for i, q := range after {
		require.Empty(t, q.Unknown, q)
		require.NotEmpty(t, q.Name, q)
		require.Regexp(t, `^[A-Za-z0-9][A-Za-z0-9-]{0,63}$`, q.Service, "as the server accepts it: %+v", q)
		require.Regexp(t, `^[A-Za-z0-9][A-Za-z0-9-]{0,63}$`, q.Code, "as the server accepts it: %+v", q)
		require.Positive(t, q.Limit, q)
		require.GreaterOrEqual(t, q.Need, q.Lasting, q)
		require.Equal(t, before[i].Code, q.Code, "always in the same order")
		grew = grew || q.Used > before[i].Used
		more, told := float64(q.Used-before[i].Used), q.UsedBy[target.Cluster]+q.UsedIn[group]
		require.InDelta(t, more, told, more/5, "but for the default group of its VPC, the cluster's share is told; else its reservation counts beside it: %+v", q)
	}
	require.True(t, grew, "a cluster uses something")
	tearDown(t, s, target, nil)
	after, err = s.Client().Quotas(t.Context(), target, plan)
	require.NoError(t, err)
	require.Equal(t, before, after, "and nothing after its end")
}

func checkPower(t *testing.T, s Scene) {
	target, bystander := s.Create(t, s.Target("shop")), s.Create(t, s.Target("bank"))
	machines := awaitState(t, s, target, cloud.MachineRunning)
	require.Len(t, machines, 3)
	var ids []string
	for _, m := range machines {
		require.True(t, m.ControlPlane, m)
		require.True(t, m.Ours, m)
		require.NotEmpty(t, m.Name, m)
		ids = append(ids, m.ID)
	}
	require.NoError(t, s.Client().SetRunning(t.Context(), target, ids, false))
	awaitState(t, s, target, cloud.MachineStopped)
	require.NoError(t, s.Client().SetRunning(t.Context(), target, ids, false), "again")
	awaitState(t, s, bystander, cloud.MachineRunning)
	require.NoError(t, s.Client().SetRunning(t.Context(), target, ids, true))
	awaitState(t, s, target, cloud.MachineRunning)
}

// awaitState waits until all machines of a cluster are in a state.
func awaitState(t *testing.T, s Scene, target cloud.Target, state string) (machines []cloud.Machine) {
	t.Helper()
	require.Eventually(t, func() bool {
		var err error
		machines, err = s.Client().Machines(t.Context(), target)
		return err == nil && len(machines) > 0 && !slices.ContainsFunc(machines, func(m cloud.Machine) bool { return m.State != state })
	}, 30*time.Second, 5*time.Millisecond)
	return machines
}

func checkPrepare(t *testing.T, s Scene) {
	target := s.Target("shop")
	first, err := s.Client().Prepare(t.Context(), target, "shop-abcdefghij")
	require.NoError(t, err)
	once := s.Left("shop-abcdefghij")
	require.Equal(t, len(once) == 0, first == "", "a group that is made has an id")
	again, err := s.Client().Prepare(t.Context(), target, "shop-abcdefghij")
	require.NoError(t, err)
	require.Equal(t, first, again)
	require.Equal(t, once, s.Left("shop-abcdefghij"))
	target.Identities = []contract.Identity{{CCOName: "shop-abcdefghij", Account: target.Account, Region: target.Region}}
	require.Equal(t, len(once) == 0, s.Client().Verify(t.Context(), target).Clean, "what was prepared is counted")
	_, err = s.Client().Remove(t.Context(), target)
	require.NoError(t, err)
	require.Empty(t, s.Left("shop-abcdefghij"))
}

func checkUnrecorded(t *testing.T, s Scene) {
	target := s.Target("shop")
	made := s.Create(t, target)
	infraID, _ := newestIdentity(made)
	there := s.Left(infraID)
	_, err := s.Client().Machines(t.Context(), target)
	require.Error(t, err, "machines are found by a recorded name only")
	_, err = s.Client().Remove(t.Context(), target)
	require.NoError(t, err)
	require.Subset(t, s.Left(infraID), withoutRecords(there), "a runner never removes without a record; if it did, only DNS records go by the cluster's name")
}

// withoutRecords leaves out DNS records, which are known by the cluster's name alone.
func withoutRecords(ids []string) (rest []string) {
	for _, id := range ids {
		if !strings.HasPrefix(id, "record") {
			rest = append(rest, id)
		}
	}
	return rest
}
