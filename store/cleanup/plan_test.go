package cleanup

import (
	"encoding/json"
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/names"
	"github.com/ocpctl/ocpctl/internal/tagkey"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/attempts"
	"github.com/ocpctl/ocpctl/store/scans"
)

var (
	now      = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	released = now.Add(-24 * time.Hour)
	cfg      = Config{BaseDomain: always("labs.example.com"), Account: always("123456789012")}
	scope    = names.Scope{Installation: "here", Cluster: "clu_1", Attempt: 2, Name: "shop", BaseDomain: "labs.example.com", Region: "eu-west-1"}
)

// always answers the same for every platform.
func always(text string) func(string) string { return func(string) string { return text } }

func own(more ...string) map[string]string {
	tags := map[string]string{tagkey.ManagedBy: tagkey.ControlPlaneName, tagkey.Installation: "here", tagkey.ClusterID: "clu_1", tagkey.ClusterName: "shop"}
	for i := 0; i < len(more); i += 2 {
		tags[more[i]] = more[i+1]
	}
	return tags
}

// leak is a VPC of a cluster that was released, under a name that it recorded.
func leak(change func(r *scans.Removal, vpc *contract.SeenResource)) scans.Removal {
	id, at := "clu_1", released
	r := scans.Removal{
		At: now, Installation: "here",
		Orphan: scans.OrphanRow{
			ID: "orp_1", Platform: "aws", Account: "123456789012", Installation: "here", ClusterTag: "clu_1", Identity: "shop-abcde", ClusterID: &id,
			Class: lifecycle.ClassReleased, ManagedBy: true, Regions: []string{"eu-west-1"}, LastSeenAt: now, State: lifecycle.OrphanApproved,
		},
		Of: &scans.RemovalCluster{
			ID: id, Name: "shop", Platform: "aws", BaseDomain: "labs.example.com", Region: "eu-west-1", Installation: "here", Status: lifecycle.Destroyed,
			Desired: lifecycle.Absent, DestroyedAt: &at, Newest: 2, Accounts: []string{"123456789012"}, Names: []scans.RecordedName{{InfraID: "shop-abcde", Account: "123456789012", Region: "eu-west-1"}},
		},
	}
	vpc := contract.SeenResource{ID: "arn:aws:ec2:eu-west-1:123456789012:vpc/vpc-1", Type: "vpc", Region: "eu-west-1", Tags: own(tagkey.KubernetesCluster+"shop-abcde", "owned")}
	change(&r, &vpc)
	r.Seen = append(r.Seen, row(vpc))
	return r
}

func row(s contract.SeenResource) scans.SeenRow {
	raw, _ := json.Marshal(s) // it has only strings
	return scans.SeenRow{ID: s.ID, Resource: raw}
}

func unknown(r *scans.Removal, _ *contract.SeenResource) {
	r.Of, r.Orphan.ClusterID, r.Orphan.Class = nil, nil, lifecycle.ClassUnknown
}

func living(r *scans.Removal, _ *contract.SeenResource) {
	r.Orphan.Class, r.Orphan.Identity = lifecycle.ClassUnrecorded, "shop-fghij"
	r.Of.DestroyedAt, r.Of.Status, r.Of.Desired = nil, lifecycle.Ready, lifecycle.Present
}

func TestWhatIsAsOldAsItsClusterIsRemoved(t *testing.T) {
	accepted := released.Add(-time.Hour)
	for name, made := range map[string]time.Time{"made after it": accepted.Add(time.Minute), "made as it was accepted, by another clock": accepted.Add(-time.Second), "the cloud does not say when": {}} {
		p := cfg.PlanOf(leak(func(r *scans.Removal, vpc *contract.SeenResource) { r.Of.AcceptedAt, vpc.MadeAt = accepted, made }))
		require.Empty(t, p.Refused, name)
		require.Len(t, p.Removed, 1, name)
	}
}

func TestALeakIsRemovedByTheTeardownOfItsCluster(t *testing.T) {
	p := cfg.PlanOf(leak(func(r *scans.Removal, _ *contract.SeenResource) {
		r.Seen = append(r.Seen,
			row(contract.SeenResource{ID: "role/1", Type: "role", Name: "shop-abcde-worker-role"}),
			row(contract.SeenResource{ID: "profile/1", Type: "instance-profile", Name: "shop-abcde-worker-profile"}),
			row(contract.SeenResource{ID: "eni/1", Type: "network-interface", Region: "eu-west-1", Within: "subnet/1"}),
			row(contract.SeenResource{ID: "subnet/1", Type: "subnet", Region: "eu-west-1", Within: "arn:aws:ec2:eu-west-1:123456789012:vpc/vpc-1"}),
			row(contract.SeenResource{ID: "record/api", Type: "record", Name: "api.shop.labs.example.com."}),
			row(contract.SeenResource{ID: "record/wild", Type: "record", Name: `\052.apps.shop.labs.example.com.`}),
			row(contract.SeenResource{ID: "record/other", Type: "record", Name: "api.shop2.labs.example.com."}),
			row(contract.SeenResource{ID: "volume/1", Type: "volume", Region: "us-west-2", Tags: own(tagkey.KubernetesCluster+"shop-abcde", "owned")}),
			row(contract.SeenResource{ID: "bucket/1", Type: "bucket", Name: "openshift-bootstrap-data-shop-abcde"}),
			row(contract.SeenResource{ID: "sg/1", Type: "security-group", Region: "eu-west-1", Name: "shop-abcde-lookalike"}))
		r.Beside = []scans.SeenRow{
			row(contract.SeenResource{ID: "volume/cut", Type: "volume", Region: "eu-west-1", Tags: map[string]string{tagkey.KubernetesCluster + "shop-abcde": "owned"}}),
			row(contract.SeenResource{ID: "volume/forged", Type: "volume", Region: "eu-west-1", Tags: own(tagkey.KubernetesCluster+"other-fghij", "owned")}),
		}
	}))
	require.Empty(t, p.Refused)
	require.Empty(t, p.Waits)
	require.Empty(t, p.Add)
	require.Equal(t, "clu_1", p.Cluster)
	why := map[string]string{}
	for _, r := range p.Removed {
		why[r.ID] = r.Why
	}
	require.Equal(t, map[string]string{
		"arn:aws:ec2:eu-west-1:123456789012:vpc/vpc-1": "openshift-install destroy cluster, by the tag of shop-abcde",
		"volume/cut": "openshift-install destroy cluster, by the tag of shop-abcde",
		"record/api": "a DNS record of this exact name, unless it points to somebody else", "record/wild": "a DNS record of this exact name, unless it points to somebody else", "bucket/1": "by its exact name", "profile/1": "by its exact name",
		"eni/1": "it ends with subnet/1", "subnet/1": "it ends with arn:aws:ec2:eu-west-1:123456789012:vpc/vpc-1",
	}, why)
	var kept []string
	for _, r := range p.Kept {
		require.NotEmpty(t, r.Why)
		kept = append(kept, r.ID)
	}
	require.Equal(t, []string{"role/1", "record/other", "volume/1", "sg/1", "volume/forged"}, kept, "no teardown finds these")
	require.Contains(t, p.Calls, Call{"delete DNS records by their exact names", "api.shop.labs.example.com, api-int.shop.labs.example.com, *.apps.shop.labs.example.com; and below shop.labs.example.com what external-dns marked with an owner id that only this cluster has"})
}

// As the runner's removal: in any region, with both tags and nobody else's mark; and the image that the installer copies by its name.
func TestCopiesOfAClusterAreRemovedWhereverTheyAre(t *testing.T) {
	p := cfg.PlanOf(leak(func(r *scans.Removal, _ *contract.SeenResource) {
		r.Seen = append(r.Seen,
			row(contract.SeenResource{ID: "image/copy", Type: "image", Region: "us-west-2", Tags: own(tagkey.KubernetesCluster+"shop-abcde", "owned")}),
			row(contract.SeenResource{ID: "snapshot/copy", Type: "snapshot", Region: "us-west-2", Tags: map[string]string{tagkey.ClusterID: "clu_1", tagkey.Installation: "here"}}),
			row(contract.SeenResource{ID: "bucket/copy", Type: "bucket", Region: "us-west-2", Tags: own()}),
			row(contract.SeenResource{ID: "image/installer", Type: "image", Region: "eu-west-1", Name: "shop-abcde-master"}),
			row(contract.SeenResource{ID: "snapshot/installer", Type: "snapshot", Region: "eu-west-1", Within: "image/installer"}),
			row(contract.SeenResource{ID: "snapshot/half", Type: "snapshot", Region: "us-west-2", Tags: map[string]string{tagkey.ClusterID: "clu_1"}}),
			row(contract.SeenResource{ID: "snapshot/forged", Type: "snapshot", Region: "us-west-2", Tags: own(tagkey.KubernetesCluster+"other-fghij", "owned")}),
			row(contract.SeenResource{ID: "volume/copy", Type: "volume", Region: "us-west-2", Tags: own()}),
			row(contract.SeenResource{ID: "image/elsewhere", Type: "image", Region: "us-west-2", Name: "shop-abcde-master"}),
			row(contract.SeenResource{ID: "instance/named", Type: "instance", Region: "eu-west-1", Name: "shop-abcde-master"}))
	}))
	require.Empty(t, p.Refused)
	ids := func(list []Resource) (ids []string) {
		for _, r := range list {
			ids = append(ids, r.ID)
		}
		return ids
	}
	require.Equal(t, []string{"image/copy", "snapshot/copy", "bucket/copy", "image/installer", "snapshot/installer", "arn:aws:ec2:eu-west-1:123456789012:vpc/vpc-1"}, ids(p.Removed))
	require.Equal(t, []string{"snapshot/half", "snapshot/forged", "volume/copy", "image/elsewhere", "instance/named"}, ids(p.Kept))
	require.Contains(t, p.Calls, Call{"delete copies by their own tags", "images, snapshots and buckets in any region with ClusterId=clu_1 and InstallationId=here and no other cluster's mark"})
}

// Whatever is not certainly this installation's own is refused, whatever class it was given.
func TestNothingForeignIsEverPlannedFor(t *testing.T) {
	tag := func(key, value string) func(*scans.Removal, *contract.SeenResource) {
		return func(_ *scans.Removal, s *contract.SeenResource) { s.Tags[key] = value }
	}
	for name, c := range map[string]struct {
		change func(*scans.Removal, *contract.SeenResource)
		why    string
	}{
		"of another installation":              {func(r *scans.Removal, _ *contract.SeenResource) { r.Orphan.Class = lifecycle.ClassForeign }, "ocpctl never removes what is foreign"},
		"a person's":                           {func(r *scans.Removal, _ *contract.SeenResource) { r.Orphan.Class = lifecycle.ClassOwned }, "ocpctl never removes what is owned"},
		"nobody's":                             {func(r *scans.Removal, _ *contract.SeenResource) { r.Orphan.Class = lifecycle.ClassNobody }, "ocpctl never removes what is nobody"},
		"misjudged, of another installation":   {func(r *scans.Removal, _ *contract.SeenResource) { r.Orphan.Installation = "there" }, `it belongs to the installation "there"`},
		"one resource of another installation": {tag(tagkey.Installation, "there"), `belongs to the installation "there"`},
		"one resource of another cluster":      {tag(tagkey.ClusterID, "clu_2"), `is tagged with the cluster "clu_2"`},
		"another's resource with its mark": {func(r *scans.Removal, _ *contract.SeenResource) {
			r.Beside = []scans.SeenRow{row(contract.SeenResource{ID: "volume/9", Tags: map[string]string{tagkey.Installation: "there"}})}
		}, `volume/9 has a mark of this cluster, but belongs to the installation "there"; a teardown deletes nothing until`},
		"another orphan of its cluster is exempt": {func(r *scans.Removal, _ *contract.SeenResource) {
			r.Exempt = []string{"orp_2", "orp_3"}
		}, "its teardown would also delete orphans that are exempt: orp_2, orp_3. Approve all of them together"},
		"somebody's, marked later": {func(r *scans.Removal, s *contract.SeenResource) {
			r.Of.AcceptedAt, s.MadeAt = released.Add(-time.Hour), released.AddDate(-1, 0, 0)
		}, "was made at 12:00 UTC on 3 March 2025, before the cluster shop was accepted, so somebody else put the cluster's tags or name on it"},
		"somebody's, marked later, beside it": {func(r *scans.Removal, _ *contract.SeenResource) {
			r.Of.AcceptedAt = released.Add(-time.Hour)
			r.Beside = []scans.SeenRow{row(contract.SeenResource{ID: "volume/9", MadeAt: released.AddDate(-1, 0, 0), Tags: own(tagkey.KubernetesCluster+"shop-abcde", "owned")})}
		}, "volume/9 has a mark of this cluster, but was made at"},
		"one resource of another tool": {tag(tagkey.ManagedBy, "terraform"), `is managed by "terraform"`},
		"gone meanwhile":               {func(r *scans.Removal, _ *contract.SeenResource) { r.Orphan.GoneAt = &now }, "nothing of it is there any more"},
		"seen before the release only": {func(r *scans.Removal, _ *contract.SeenResource) { r.Orphan.LastSeenAt = released }, "it was not seen since its cluster was destroyed"},
		"its cluster lives": {func(r *scans.Removal, _ *contract.SeenResource) {
			r.Of.DestroyedAt = nil
			r.Of.Status = lifecycle.Ready
		}, "its cluster shop is READY by now"},
		"a name that the installer never gives": {func(r *scans.Removal, _ *contract.SeenResource) { r.Orphan.Identity = "shop-of-finance" }, "shop-of-finance is no name that the installer or ocpctl gives to the cluster shop"},
		"another cluster's name":                {func(r *scans.Removal, _ *contract.SeenResource) { r.Orphan.Identity = "shop2-abcde" }, "shop2-abcde is no name"},
		"another cluster's ccoctl name": {func(r *scans.Removal, _ *contract.SeenResource) {
			other := scope
			other.Cluster = "clu_2"
			r.Orphan.Identity = other.CCOName()
		}, "is no name that the installer or ocpctl gives"},
		"a name that another cluster recorded": {func(r *scans.Removal, s *contract.SeenResource) {
			living(r, s)
			r.Taken = []scans.TakenName{{Name: "shop-fghij", Cluster: "clu_2"}}
		}, "the cluster clu_2 recorded the name shop-fghij"},
		"a name in another region": {func(r *scans.Removal, _ *contract.SeenResource) {
			r.Orphan.Identity, r.Orphan.Regions = "shop-fghij", []string{"us-west-2"}
		}, "shop-fghij is in us-west-2, but its cluster is in eu-west-1"},
		"no mark that a teardown searches for": {func(_ *scans.Removal, s *contract.SeenResource) {
			delete(s.Tags, tagkey.KubernetesCluster+"shop-abcde")
		}, "no teardown searches for any of its resources"},
		"a mark that is only shared":     {tag(tagkey.KubernetesCluster+"shop-abcde", "shared"), "no teardown searches for any of its resources"},
		"unknown without every tag":      {func(r *scans.Removal, s *contract.SeenResource) { unknown(r, s); r.Orphan.ManagedBy = false }, "not each of its resources is tagged"},
		"unknown of no installation":     {func(r *scans.Removal, s *contract.SeenResource) { unknown(r, s); r.Orphan.Installation = "" }, "not each of its resources is tagged"},
		"unknown without a cluster's id": {func(r *scans.Removal, s *contract.SeenResource) { unknown(r, s); r.Orphan.ClusterTag = "" }, "not each of its resources is tagged"},
		"unknown with something like an id": {func(r *scans.Removal, s *contract.SeenResource) {
			unknown(r, s)
			r.Orphan.ClusterTag, s.Tags[tagkey.ClusterID] = "shop", "shop"
		}, `"shop" is not the id of a cluster`},
		"unknown without a name":       {func(r *scans.Removal, s *contract.SeenResource) { unknown(r, s); delete(s.Tags, tagkey.ClusterName) }, "no tag tells the name of its cluster"},
		"unrecorded without every tag": {func(r *scans.Removal, s *contract.SeenResource) { living(r, s); r.Orphan.ManagedBy = false }, "not each of its resources is tagged"},
	} {
		t.Run(name, func(t *testing.T) {
			p := cfg.PlanOf(leak(c.change))
			require.Contains(t, p.Refused, c.why)
		})
	}
}

// A teardown searches in one account. In another one, the same names and tags are somebody else's.
func TestNothingInAnotherAccountIsPlannedFor(t *testing.T) {
	other := func(change func(*scans.Removal, *contract.SeenResource), accounts ...string) scans.Removal {
		return leak(func(r *scans.Removal, s *contract.SeenResource) {
			change(r, s)
			if r.Of != nil {
				r.Of.Accounts = accounts
			}
			r.Orphan.Account = "999999999999"
			s.Tags[tagkey.KubernetesCluster+"shop-fghij"] = "owned"
		})
	}
	same := func(*scans.Removal, *contract.SeenResource) {}
	why := "it is in the account 999999999999, but the teardown of its cluster works in 123456789012"
	require.Contains(t, cfg.PlanOf(other(same, "123456789012")).Refused, why)
	require.Contains(t, cfg.PlanOf(other(same, "123456789012", "999999999999")).Refused, why, "one of them is another")
	require.Contains(t, cfg.PlanOf(other(living, "123456789012")).Refused, why)
	require.Contains(t, cfg.PlanOf(other(unknown)).Refused, why, "runners do not use its account")
	require.Contains(t, cfg.PlanOf(other(same)).Refused, why, "nothing was recorded: runners use one account")
	require.Empty(t, cfg.PlanOf(other(same, "999999999999")).Refused, "what was recorded counts, not what runners use now")
	require.Contains(t, Config{BaseDomain: cfg.BaseDomain}.PlanOf(leak(unknown)).Refused, "that of its cluster is not known; set account in the configuration")
}

func TestARemovalWaitsForWhatItCouldHarm(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*scans.Removal, *contract.SeenResource)
		why    string
	}{
		"another cluster has the name": {func(r *scans.Removal, _ *contract.SeenResource) { r.Of.NameOf = "clu_2" }, "the name shop is that of the cluster clu_2 now"},
		"an attempt is open": {func(r *scans.Removal, s *contract.SeenResource) {
			living(r, s)
			r.Of.Open, s.Tags[tagkey.KubernetesCluster+"shop-fghij"] = true, "owned"
		}, "an attempt of its cluster is open"},
		"its cluster is being created": {func(r *scans.Removal, s *contract.SeenResource) {
			living(r, s)
			r.Of.Status, s.Tags[tagkey.KubernetesCluster+"shop-fghij"] = lifecycle.Pending, "owned"
		}, "its cluster is being created"},
	} {
		t.Run(name, func(t *testing.T) {
			p := cfg.PlanOf(leak(c.change))
			require.Empty(t, p.Refused)
			require.Contains(t, p.Waits, c.why)
			require.NotEmpty(t, p.Calls, "a dry run shows what it waits to do")
		})
	}
}

func TestATeardownLearnsOnlyNamesOfItsCluster(t *testing.T) {
	for name, c := range map[string]struct {
		identity string
		tags     map[string]string
		add      attempts.IdentityRow
	}{
		"an infraID of the installer": {"shop-fghij", map[string]string{tagkey.KubernetesCluster + "shop-fghij": "owned"},
			attempts.IdentityRow{InfraID: "shop-fghij", Account: "123456789012", Region: "eu-west-1", Metadata: string(scope.MetadataJSON(names.Identity{InfraID: "shop-fghij", ClusterUUID: ""}))}},
		"ccoctl's name of an attempt": {scope.CCOName(), map[string]string{tagkey.CloudCredential + scope.CCOName(): "owned"},
			attempts.IdentityRow{CCOName: scope.CCOName(), Account: "123456789012", Region: "eu-west-1"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := cfg.PlanOf(leak(func(r *scans.Removal, s *contract.SeenResource) {
				living(r, s)
				r.Orphan.Identity = c.identity
				maps.Copy(s.Tags, c.tags)
				delete(s.Tags, tagkey.KubernetesCluster+"shop-abcde")
			}))
			require.Empty(t, p.Refused)
			require.Empty(t, p.Waits)
			require.Equal(t, []attempts.IdentityRow{c.add}, p.Add)
			require.Len(t, p.Removed, 1)
		})
	}
}

func TestAnUnknownClusterThatMayBeAliveIsNotRemoved(t *testing.T) {
	ends := func(tags ...string) Plan {
		return cfg.PlanOf(leak(func(r *scans.Removal, s *contract.SeenResource) {
			unknown(r, s)
			delete(s.Tags, tagkey.TTLExpiry)
			for i, tag := range tags {
				r.Seen = append(r.Seen, row(contract.SeenResource{ID: fmt.Sprint("subnet/", i), Type: "subnet", Region: "eu-west-1", Tags: own(tagkey.TTLExpiry, tag)}))
			}
		}))
	}
	at := func(d time.Duration) string { return now.Add(d).Format(time.RFC3339) }
	p := ends(at(-48*time.Hour), at(2*time.Hour))
	require.Contains(t, p.Refused, "its cluster may be alive until 14:00 UTC on 4 March 2026")
	require.Contains(t, p.Refused, "docs/backup.md")
	require.NotEmpty(t, ends(at(-time.Hour+time.Second)).Refused, "an hour has to have passed")
	p = ends("tomorrow", at(-time.Hour))
	require.Empty(t, p.Refused)
	require.Empty(t, p.Doubt)
	for _, p := range []Plan{ends(), ends("tomorrow")} {
		require.Empty(t, p.Refused)
		require.Contains(t, p.Doubt, "no tag tells when the cluster ends, so it may be alive")
	}
}

func TestAnUnknownClusterIsPlannedForByItsTags(t *testing.T) {
	p := cfg.PlanOf(leak(unknown))
	require.Empty(t, p.Refused)
	require.Equal(t, "clu_1", p.Cluster)
	require.Equal(t, "shop", p.Name)
	require.Len(t, p.Removed, 1)
	require.Contains(t, Config{}.PlanOf(leak(unknown)).Refused, "the base domain of its cluster is unknown")
}

// The id tells when a cluster was accepted of which no row tells.
func TestWhatIsOlderThanAnUnknownClusterIsNotRemoved(t *testing.T) {
	id := "clu_" + ulid.MustNew(ulid.Timestamp(released.Add(-48*time.Hour)), ulid.DefaultEntropy()).String()
	madeAt := func(at time.Time) Plan {
		return cfg.PlanOf(leak(func(r *scans.Removal, s *contract.SeenResource) {
			unknown(r, s)
			r.Orphan.ClusterTag, s.Tags[tagkey.ClusterID], s.MadeAt = id, id, at
		}))
	}
	require.Empty(t, madeAt(released.Add(-47*time.Hour)).Refused)
	require.Empty(t, madeAt(time.Time{}).Refused)
	require.Contains(t, madeAt(released.Add(-49*time.Hour)).Refused, "before the cluster "+id+" was accepted")
}

func TestWhatCcoctlMadeForAnUnknownClusterIsRemovedWithIt(t *testing.T) {
	first := scope
	first.Attempt = 1
	beside := func(name string) Plan {
		return cfg.PlanOf(leak(func(r *scans.Removal, s *contract.SeenResource) {
			unknown(r, s)
			r.Beside = []scans.SeenRow{
				row(contract.SeenResource{ID: "role/1", Type: "role", Region: "global", Tags: own(tagkey.CloudCredential+name, tagkey.Owned)}),
				row(contract.SeenResource{ID: "oidc-provider/1", Type: "oidc-provider", Region: "global", Tags: map[string]string{tagkey.CloudCredential + name: tagkey.Owned}}),
			}
		}))
	}
	for _, of := range []names.Scope{first, scope} {
		p := beside(of.CCOName())
		require.Empty(t, p.Refused)
		require.Empty(t, p.Kept)
		require.Len(t, p.Removed, 3)
		require.Contains(t, p.Calls, Call{"delete what ccoctl created", "ccoctl aws delete --name " + of.CCOName() + " --region eu-west-1"})
	}
	require.Len(t, beside("shop-aaaaaaaaaa").Kept, 2, "a name that ocpctl does not give to this cluster")
}
