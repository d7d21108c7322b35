package orphans

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/tagkey"
	"github.com/ocpctl/ocpctl/lifecycle"
)

const here, there, baseDomain = "here", "there", "labs.example.com"

var (
	epoch  = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	limits = lifecycle.FindingLimits{MinAge: 30 * time.Minute, MinSights: 2}
)

// truth says whose a resource really is, whatever its tags say.
type truth string

const (
	ofLiving   truth = "living"
	ofReleased truth = "released"
	ofUnknown  truth = "unknown" // ours, lost with a database
	ofForeign  truth = "foreign"
	ofPerson   truth = "person"
	ofNobody   truth = "nobody"
)

// thing is one resource of the world.
type thing struct {
	contract.SeenResource
	truth truth
	of    string // id of the cluster that made it
	part  string
	whole bool // nobody touched its tags
}

// world is an account with everything that is in it, and what the database knows.
type world struct {
	things []thing
	known  lifecycle.Known
	serial int
}

// drawWorld draws clusters of all kinds whose names are reused and look alike, and tags that were cut or changed.
func drawWorld(t *rapid.T) *world {
	w := &world{known: lifecycle.Known{Now: epoch, Installation: here}}
	for range rapid.IntRange(1, 6).Draw(t, "clusters") {
		w.addCluster(t, rapid.SampledFrom([]truth{ofLiving, ofReleased, ofUnknown, ofForeign}).Draw(t, "truth"))
	}
	for range rapid.IntRange(0, 3).Draw(t, "of people") {
		w.add(thing{part: "us-east-1/ec2", truth: ofPerson, whole: true, SeenResource: contract.SeenResource{Type: "instance", Name: "jump", Tags: map[string]string{tagkey.Owner: "maya"}}})
	}
	for range rapid.IntRange(0, 3).Draw(t, "of nobody") {
		w.add(thing{part: "us-east-1/ec2", truth: ofNobody, whole: true, SeenResource: contract.SeenResource{Type: "volume", Name: "pvc-1"}})
	}
	for i := range w.things {
		w.tamper(t, &w.things[i])
	}
	for i := range w.things { // what nothing but its place tells of is as sure as its place
		x := &w.things[i]
		if in := slices.IndexFunc(w.things, func(p thing) bool { return p.ID == x.Within }); in >= 0 && len(x.Tags) == 0 {
			x.whole = x.whole && w.things[in].whole
		}
	}
	return w
}

func (w *world) add(x thing) string {
	w.serial++
	x.ID = fmt.Sprintf("arn:aws:ec2:us-east-1:123456789012:%s/%s-%d", x.Type, x.Type, w.serial)
	if x.Type == "record" {
		x.ID = "record/" + x.Name
	}
	x.Region = "us-east-1"
	w.things = append(w.things, x)
	return x.ID
}

// addCluster adds what a cluster leaves. Its name may be another's, may be another's with something behind, and says nothing of its owner.
func (w *world) addCluster(t *rapid.T, of truth) {
	w.serial++
	name := rapid.SampledFrom([]string{"shop", "shop-aaaaa", "shop-master", "pr7-shop"}).Draw(t, "name")
	id, infra, cco := fmt.Sprintf("clu_%d", w.serial), fmt.Sprintf("%s-b%04d", name, w.serial), fmt.Sprintf("%.9s-c%09d", name, w.serial)
	tags := map[string]string{
		tagkey.ManagedBy: tagkey.ControlPlaneName, tagkey.ClusterID: id, tagkey.ClusterName: name, tagkey.Owner: "maya", tagkey.Team: "platform",
		tagkey.Installation: here, tagkey.KubernetesCluster + infra: tagkey.Owned,
	}
	if of == ofForeign {
		tags[tagkey.Installation] = there
	}
	if of == ofLiving || of == ofReleased {
		k := lifecycle.KnownCluster{Name: name, Domain: fmt.Sprintf("%s%d.%s", name, w.serial, baseDomain), Identities: []string{infra, cco}}
		k.ID, k.Status, k.Phase = id, lifecycle.Ready, lifecycle.PhaseReady
		if of == ofReleased {
			k.Status, k.Phase, k.ReleasedAt = lifecycle.Destroyed, lifecycle.Released, epoch.Add(-time.Hour)
		}
		w.known.Clusters = append(w.known.Clusters, k)
	}
	own := func(kind, part, name, within string, tags map[string]string) string {
		return w.add(thing{part: part, truth: of, of: id, whole: true, SeenResource: contract.SeenResource{Type: kind, Name: name, Within: within, Tags: maps.Clone(tags)}})
	}
	vpc := own("vpc", "us-east-1/ec2", infra+"-vpc", "", tags)
	own("subnet", "us-east-1/ec2", infra+"-subnet-private-1a", vpc, map[string]string{tagkey.KubernetesCluster + infra: tagkey.Owned})
	own("network-interface", "us-east-1/ec2", "", vpc, nil)
	own("volume", "us-east-1/ec2", infra+"-dynamic-pvc", "", tags)
	own("role", "global/iam", cco+"-openshift-ingress", "", map[string]string{tagkey.CloudCredential + cco: tagkey.Owned})
	own("bucket", "global/s3", bucketPrefix+infra, "", nil)
	own("instance-profile", "global/iam", infra+"-bootstrap-profile", "", nil)
	own("record", "global/route53", fmt.Sprintf("api.%s%d.%s.", name, w.serial, baseDomain), "", nil)
}

// tamper lets somebody cut a resource's tags, or change the one that names the cluster.
func (w *world) tamper(t *rapid.T, x *thing) {
	switch rapid.SampledFrom([]string{"", "", "cut", "forge"}).Draw(t, "tamper") {
	case "cut":
		x.whole = false
		for _, key := range slices.Sorted(maps.Keys(x.Tags)) {
			if rapid.Bool().Draw(t, "cut "+key) {
				delete(x.Tags, key)
			}
		}
	case "forge":
		if x.Tags == nil || len(w.known.Clusters) == 0 {
			return
		}
		x.whole = false
		x.Tags[tagkey.ClusterID] = rapid.SampledFrom(w.known.Clusters).Draw(t, "forged").ID
		if rapid.Bool().Draw(t, "without installation") {
			delete(x.Tags, tagkey.Installation)
		}
	}
}

// account is what the server keeps of the world between scans, as store/scans does.
type account struct {
	sights  map[string]int
	seenAt  map[string]time.Time
	missed  map[string]int
	there   map[string]thing
	orphans map[string]lifecycle.KnownOrphan
	groups  map[string]lifecycle.Judged
	was     map[string]lifecycle.OrphanState // before the last scan

	approved map[string]lifecycle.OrphanClass
}

// pipeline are the steps that a mutant replaces.
type pipeline struct {
	group func(Account, []Resource) []lifecycle.Group
	judge func(lifecycle.Seen, lifecycle.Known) []lifecycle.Judged
	next  func(lifecycle.KnownOrphan, lifecycle.Judged, time.Time, lifecycle.FindingLimits) lifecycle.KnownOrphan
	gone  int // scans that have to miss a resource
}

func sound() pipeline {
	return pipeline{group: Groups, judge: lifecycle.Judge, next: lifecycle.KnownOrphan.Next, gone: 2}
}

// scan looks through the world. Parts in denied did not answer; lied are resources that a page left out.
func (a *account) scan(w *world, p pipeline, at time.Time, denied map[string]bool, lied map[string]bool) {
	shown := map[string]bool{}
	for _, x := range w.things {
		if denied[x.part] || lied[x.ID] {
			continue
		}
		shown[x.ID] = true
		a.there[x.ID] = x
		a.sights[x.ID]++
		a.seenAt[x.ID] = at
		a.missed[x.ID] = 0
	}
	var seen []Resource
	for id, x := range a.there {
		if !shown[id] && !denied[x.part] {
			a.missed[id]++
			a.sights[id] = 0
		}
		if a.missed[id] >= p.gone {
			delete(a.there, id)
			continue
		}
		seen = append(seen, Resource{SeenResource: x.SeenResource, SeenAt: a.seenAt[id], Sights: a.sights[id], Fresh: shown[id]})
	}
	slices.SortFunc(seen, func(x, y Resource) int { return cmpID(x.ID, y.ID) })
	recorded := map[string]bool{}
	for _, name := range Candidates(seen) {
		for _, c := range w.known.Clusters {
			if slices.Contains(c.Identities, name) {
				recorded[name] = true
			}
		}
	}
	groups := p.group(Account{Platform: "aws", ID: "123456789012", Names: recorded, BaseDomains: []string{baseDomain}}, seen)
	present := map[string]bool{}
	for key, o := range a.orphans {
		a.was[key] = o.State
	}
	for _, j := range p.judge(lifecycle.Seen{At: at, Groups: groups}, w.known) {
		key := fmt.Sprint(j.Installation, "|", j.Cluster, "|", j.Identity, "|", j.Place)
		present[key] = true
		if _, known := a.orphans[key]; !known && j.Class == lifecycle.ClassLive {
			continue
		}
		a.orphans[key] = p.next(a.orphans[key], j, at, limits)
		a.groups[key] = j
	}
	for key, o := range a.orphans {
		if !present[key] {
			a.orphans[key] = o.Gone("nothing of it is left", at)
		}
	}
}

func cmpID(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func newAccount() *account {
	return &account{sights: map[string]int{}, seenAt: map[string]time.Time{}, missed: map[string]int{}, there: map[string]thing{},
		orphans: map[string]lifecycle.KnownOrphan{}, groups: map[string]lifecycle.Judged{},
		was: map[string]lifecycle.OrphanState{}, approved: map[string]lifecycle.OrphanClass{}}
}
