package devstack_test

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/aws"
	"github.com/ocpctl/ocpctl/devstack/github"
	"github.com/ocpctl/ocpctl/devstack/installer"
)

// leaky is a cloud on which every class of leaks is left.
type leaky struct {
	platform, label string
	// named are the leaks that are nobody's to delete but a person's: the product only looks for them and tells. All others it removes by
	// itself.
	named []string
	// removes is what the log says of classes, if it is not that something was removed without the installer.
	removes map[string]string
	// together are classes that one cluster has; nil: each class has a cluster of its own.
	together [][]string
	left     func(name string) []leftThing // of one cluster, without what was planted beside it
	free     func(id string) error
}

// leftThing is a resource that is left of a cluster.
type leftThing struct{ Type, ID, Name string }

func TestEveryClassOfLeaksIsRemovedOrNamedAndForeignThingsStand(t *testing.T) {
	t.Parallel()
	l := newLife(t, time.Hour)
	cloud := leaky{
		platform: "aws", label: label, free: l.AWS.Free, left: l.leftOnAWS,
		named: []string{installer.LeakVolume, installer.LeakSnapshot, installer.LeakDNS, installer.LeakForeign, installer.LeakGroupInUse},
		// a balancer goes with its VPC, and a user when the destroyer is run again after the count named it
		removes: map[string]string{installer.LeakBalancer: "%Deleted arn=%:loadbalancer/%", installer.LeakUser: "%Deleted arn=%:user/%"},
	}
	leaking := l.openLeaks(cloud)
	foreign := l.plantForeign(slices.Sorted(maps.Keys(leaking)))
	l.areReady(cloud, leaking)
	for pr, leaks := range leaking {
		if leaks[0].Class == installer.LeakUser { // with minted credentials the cluster's operators would have made it
			infra := l.infraOf(pr)
			_, err := l.AWS.Plant(aws.Resource{Service: "iam", Type: "user", Name: infra + "-openshift-ingress-x2x4x", Attrs: map[string]string{"path": "/"}, Tags: map[string]string{"kubernetes.io/cluster/" + infra: "owned"}})
			require.NoError(t, err)
		}
	}
	l.leaksEnd(cloud, leaking)
	for _, f := range foreign {
		i := slices.IndexFunc(l.AWS.All(), func(r aws.Resource) bool { return r.Seq == f.Seq })
		require.GreaterOrEqual(t, i, 0, "gone, and was nobody's to take: %+v", f)
		now := l.AWS.All()[i]
		require.True(t, now.Alive(), "removed, and was nobody's to remove: %+v", f)
		require.Equal(t, f.Tags, now.Tags, "changed, and was nobody's to change: %+v", f)
		require.NoError(t, l.AWS.Free(f.ID))
	}
	l.assertNothingLeft()
	l.assertSettled()
}

// openLeaks opens pull requests for all classes of a cloud's leaks, and has the tools leak them for those clusters.
func (l *life) openLeaks(cloud leaky) (leaking map[int][]installer.Leak) {
	l.t.Helper()
	faults := installer.Faults{}
	leaking = map[int][]installer.Leak{}
	for _, leaks := range cloud.groups(l.t) {
		pr, err := l.GitHub.Open("Leaks "+classes(leaks), "maya")
		require.NoError(l.t, err)
		leaking[pr] = leaks
		for _, leak := range leaks {
			command := leak.Command + "/" + l.nameOf(pr)
			if strings.HasPrefix(leak.Command, "ccoctl-") {
				command = leak.Command + "/" + strings.TrimRight(l.nameOf(pr)[:9], "-")
			}
			faults[command] = installer.Fault{Leak: append(faults[command].Leak, leak.Class), Times: 1}
		}
	}
	require.NoError(l.t, installer.WriteFaults(l.Faults(), faults))
	return leaking
}

// groups are all classes of the cloud, as clusters have them.
func (c leaky) groups(t testing.TB) (groups [][]installer.Leak) {
	t.Helper()
	all := installer.LeaksOn(c.platform)
	if c.together == nil {
		for _, leak := range all {
			groups = append(groups, []installer.Leak{leak})
		}
		return groups
	}
	require.Len(t, slices.Concat(c.together...), len(all), "every class once")
	for _, names := range c.together {
		var leaks []installer.Leak
		for _, class := range names {
			i := slices.IndexFunc(all, func(leak installer.Leak) bool { return leak.Class == class })
			require.GreaterOrEqual(t, i, 0, class)
			leaks = append(leaks, all[i])
		}
		groups = append(groups, leaks)
	}
	return groups
}

func classes(leaks []installer.Leak) string {
	var names []string
	for _, leak := range leaks {
		names = append(names, leak.Class)
	}
	return strings.Join(names, ", ")
}

func (l *life) areReady(cloud leaky, leaking map[int][]installer.Leak) {
	l.t.Helper()
	for pr := range leaking {
		require.NoError(l.t, l.GitHub.Label(pr, cloud.label, "maya"))
	}
	l.runUntil("all are ready", 4*time.Minute, func() bool {
		return l.count("SELECT count(*) FROM clusters WHERE status = 'READY'") == len(leaking)
	})
}

// leaksEnd has every cluster destroyed and sees every class of leaks to its end.
func (l *life) leaksEnd(cloud leaky, leaking map[int][]installer.Leak) {
	l.t.Helper()
	for pr := range leaking {
		_, err := l.GitHub.Comment(pr, "/ocp destroy", "maya")
		require.NoError(l.t, err)
	}
	for pr, leaks := range leaking {
		l.leakEnds(cloud, pr, leaks)
	}
	left, err := os.ReadFile(l.Faults())
	require.NoError(l.t, err)
	require.JSONEq(l.t, "{}", string(left), "every leak was really left, so every fault is used up")
}

func (l *life) leftOnAWS(name string) (left []leftThing) {
	for _, r := range l.AWS.Resources(name) {
		if r.Tags["InstallationId"] != "elsewhere" && (r.Tags["Team"] != "platform" || r.Tags["ClusterId"] != "") {
			left = append(left, leftThing{r.Type, r.ID, r.Name})
		}
	}
	return left
}

// logged counts the lines of a pull request's cluster that are like a text.
const logged = `SELECT count(*) FROM log_chunks g JOIN attempts a ON a.id = g.attempt_id JOIN clusters c ON c.id = a.cluster_id
	WHERE c.pr_number = $1 AND g.body LIKE $2`

func (l *life) nameOf(pr int) string { return fmt.Sprintf("pr%d-shop", pr) }

func (l *life) infraOf(pr int) (infra string) {
	require.NoError(l.t, l.pool.QueryRow(l.ctx, "SELECT a.infra_id FROM attempts a JOIN clusters c ON c.id = a.cluster_id WHERE c.pr_number = $1 AND a.infra_id <> ''", pr).Scan(&infra))
	return infra
}

// plantForeign puts things of other clusters into the account that look like ours: names that go on where ours end, tags
// of another infraID and of another control plane.
func (l *life) plantForeign(prs []int) []aws.Resource {
	var out []aws.Resource
	for _, pr := range prs {
		name := l.nameOf(pr)
		other := name + "x-zzzzz" // as an infraID of a cluster called like ours and one letter more
		tags := map[string]string{
			"kubernetes.io/cluster/" + other: "owned", "Name": other + "-vpc", "ClusterName": name + "x", "ClusterId": "clu_0", "InstallationId": "elsewhere",
		}
		for _, r := range []aws.Resource{
			{Service: "ec2", Type: "vpc", Tags: tags},
			{Service: "ec2", Type: "volume", Tags: map[string]string{"ClusterName": name, "ClusterId": "clu_0", "InstallationId": "elsewhere"}},
			{Service: "iam", Type: "role", Name: other + "-master-role", Attrs: map[string]string{"path": "/"}, Tags: tags},
			{Service: "iam", Type: "role", Name: name + "-admins", Attrs: map[string]string{"path": "/"}, Tags: map[string]string{"Team": "platform"}},
		} {
			planted, err := l.AWS.Plant(r)
			require.NoError(l.t, err)
			out = append(out, planted)
		}
	}
	return out
}

// namesWhatIsInTheWay: AWS refuses again and again to delete a security group that a network interface of somebody else uses. The
// destroyer is stopped for that, an hour before its deadline, and what is in the way stands first wherever people look.
func (l *life) namesWhatIsInTheWay(pr int, left []leftThing) {
	l.t.Helper()
	i := slices.IndexFunc(left, func(r leftThing) bool { return r.Type == "network-interface" })
	require.GreaterOrEqual(l.t, i, 0, "%+v", left)
	held := left[i].ID
	require.Positive(l.t, l.count(logged, pr, "%destroy was stopped: it cannot remove %DependencyViolation%"))
	require.Zero(l.t, l.count(logged, pr, "%destroy did not finish within its deadline%"))
	var evidence, message string
	require.NoError(l.t, l.pool.QueryRow(l.ctx, `
		SELECT f.evidence[1], a.message FROM findings f JOIN clusters c ON c.id = f.cluster_id
		JOIN LATERAL (SELECT message FROM attempts WHERE cluster_id = c.id AND closed_at IS NOT NULL ORDER BY number DESC LIMIT 1) a ON true
		WHERE c.pr_number = $1 AND f.kind = 'blocked' AND f.resolved_at IS NULL`, pr).Scan(&evidence, &message))
	require.Contains(l.t, evidence, held, "the finding")
	require.Contains(l.t, message, held, "the attempt's result")
	c := l.as("admin").cluster(l.nameOf(pr))
	require.Contains(l.t, c.Blockers[0], held, "the API")
	l.runUntil("the comment names "+held, 20*time.Second, func() bool {
		return slices.ContainsFunc(l.GitHub.Comments(pr), func(said github.Comment) bool { return strings.Contains(said.Body, held) })
	})
}

// leakEnds sees the leaks of one cluster to their end: removed by the product, or named with who can free it, then freed by a person, then
// released.
func (l *life) leakEnds(cloud leaky, pr int, leaks []installer.Leak) {
	l.t.Helper()
	leak := leaks[0]
	var phase, blockers, why string
	l.runUntil(classes(leaks)+": released or blocked", 3*time.Minute, func() bool {
		require.NoError(l.t, l.pool.QueryRow(l.ctx, "SELECT phase, blockers::text, why::text FROM clusters WHERE pr_number = $1", pr).Scan(&phase, &blockers, &why))
		return phase == "released" || phase == "destroy_blocked"
	})
	l.t.Logf("%-18s %s %s", classes(leaks), phase, blockers)
	if !slices.Contains(cloud.named, leak.Class) {
		require.Equal(l.t, "released", phase, "%s: %s", leak.Class, why)
		for _, leak := range leaks {
			says := cmp.Or(cloud.removes[leak.Class], "%removed without the installer: %")
			require.Positive(l.t, l.count(logged, pr, says), "%s: it is gone, and nobody says who removed it", leak.Class)
		}
		return
	}
	require.Equal(l.t, "destroy_blocked", phase, "%s: %s", leak.Class, why)
	left := cloud.left(l.nameOf(pr))
	require.NotEmpty(l.t, left, "%s: blocked by nothing", leak.Class)
	require.True(l.t, slices.ContainsFunc(left, func(r leftThing) bool {
		return strings.Contains(why+blockers, r.ID) || r.Name != "" && strings.Contains(why+blockers, strings.TrimSuffix(r.Name, "."))
	}), "%s: what is left is not named: %s; %s; %+v", leak.Class, why, blockers, left)
	l.runUntil(leak.Class+": the comment names its page", 20*time.Second, func() bool {
		for _, c := range l.GitHub.Comments(pr) {
			if strings.Contains(c.Body, "/runbooks/destroy-blocked") {
				return true
			}
		}
		return false
	})
	if leak.Class == installer.LeakGroupInUse {
		l.namesWhatIsInTheWay(pr, left)
	}
	for _, r := range left { // as the person who is named would
		if r.Type != "vpc" && r.Type != "security-group" {
			require.NoError(l.t, cloud.free(r.ID))
		}
	}
	l.runUntil(leak.Class+": released once it was freed", 3*time.Minute, func() bool {
		return l.count("SELECT count(*) FROM clusters WHERE pr_number = $1 AND phase = 'released'", pr) == 1
	})
}
