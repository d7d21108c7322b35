package orphans

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/ocpctl/ocpctl/internal/tagkey"
	"github.com/ocpctl/ocpctl/lifecycle"
)

// removable reports an orphan that may be removed without a person, where its class is enabled for that.
func removable(o lifecycle.KnownOrphan, j lifecycle.Judged) bool {
	class := o.Class == lifecycle.ClassReleased || o.Class == lifecycle.ClassUnknown
	return o.State == lifecycle.OrphanReported && class && j.Managed && o.Sights >= limits.MinSights
}

// broken returns which rule the account breaks; empty: none. complete: every part answered completely in the last three scans, which
// were apart by more than the least age.
func (a *account) broken(w *world, at time.Time, complete bool) string {
	truths := map[string]thing{}
	for _, x := range w.things {
		truths[x.ID] = x
	}
	told := map[string]lifecycle.KnownOrphan{}
	for key, o := range a.orphans {
		j := a.groups[key]
		for _, id := range j.Resources {
			x, exists := truths[id]
			if o.State == lifecycle.OrphanGone || !exists {
				continue
			}
			told[id] = o
			switch {
			case x.truth == ofForeign && (o.Class == lifecycle.ClassReleased || o.Class == lifecycle.ClassUnknown) && x.Tags[tagkey.Installation] == there:
				return fmt.Sprintf("what is of another installation is called %s: %s", o.Class, id)
			case (x.truth == ofForeign || x.truth == ofLiving) && removable(o, j):
				return fmt.Sprintf("%s of %s may be removed", id, x.truth)
			case x.truth == ofLiving && x.whole && (o.Class == lifecycle.ClassReleased || o.Class == lifecycle.ClassUnknown):
				return fmt.Sprintf("what a living cluster has is called %s: %s", o.Class, id)
			case o.State == lifecycle.OrphanApproved && o.Class != a.approved[key]:
				return fmt.Sprintf("an approval for what is %s is used for what is %s", a.approved[key], o.Class)
			}
		}
		if was := a.was[key]; o.State == lifecycle.OrphanReported && (was == "" || was == lifecycle.OrphanSeen || was == lifecycle.OrphanGone) && at.Sub(o.Since) < limits.MinAge {
			return "it is told too early"
		}
	}
	for id, times := range a.missed {
		if _, kept := a.there[id]; times == 1 && !kept {
			return fmt.Sprintf("one look that missed it is enough to call %s gone", id)
		}
	}
	if !complete {
		return ""
	}
	for id, x := range truths {
		o, there := told[id]
		ours := x.truth == ofReleased || x.truth == ofUnknown
		switch {
		case ours && !there && x.whole:
			return fmt.Sprintf("nobody is told of %s %s", x.truth, id)
		case ours && x.whole && x.Tags[tagkey.ClusterID] != "" && o.Class != lifecycle.ClassReleased && o.Class != lifecycle.ClassUnknown:
			return fmt.Sprintf("%s %s is called %s", x.truth, id, o.Class)
		case there && o.State == lifecycle.OrphanSeen:
			return fmt.Sprintf("%s was seen for long, and nobody is told", id)
		case x.truth == ofLiving && x.whole && x.Tags[tagkey.ClusterID] != "" && there:
			return fmt.Sprintf("%s is called an orphan", id)
		}
	}
	return ""
}

// live scans a random world several times: first with a hostile outside, then three times completely.
func live(t *rapid.T, p pipeline) string {
	w, a, at := drawWorld(t), newAccount(), epoch
	parts := []string{"us-east-1/ec2", "global/iam", "global/s3", "global/route53"}
	for range rapid.IntRange(0, 4).Draw(t, "hostile scans") {
		denied, lied := map[string]bool{}, map[string]bool{}
		for _, part := range parts {
			denied[part] = rapid.Bool().Draw(t, "denied "+part)
		}
		for _, x := range w.things {
			lied[x.ID] = rapid.IntRange(0, 5).Draw(t, "lied") == 0
		}
		at = at.Add(rapid.SampledFrom([]time.Duration{time.Minute, time.Hour}).Draw(t, "pause"))
		a.scan(w, p, at, denied, lied)
		if rapid.Bool().Draw(t, "somebody approves") {
			for key, o := range a.orphans {
				if o.State == lifecycle.OrphanReported {
					o.State, o.DecidedBy = lifecycle.OrphanApproved, "saml:ada"
					a.orphans[key], a.approved[key] = o, o.Class
				}
			}
		}
		if rule := a.broken(w, at, false); rule != "" {
			return rule
		}
		w.change(t)
	}
	for range 3 {
		at = at.Add(time.Hour)
		a.scan(w, p, at, nil, nil)
		if rule := a.broken(w, at, false); rule != "" {
			return rule
		}
	}
	return a.broken(w, at, true)
}

// change lets a cluster be destroyed while its resources stay, another installation take over a resource, or a person claim one.
func (w *world) change(t *rapid.T) {
	switch rapid.SampledFrom([]string{"", "release", "take over", "claim"}).Draw(t, "change") {
	case "release":
		if len(w.known.Clusters) == 0 {
			return
		}
		c := &w.known.Clusters[rapid.IntRange(0, len(w.known.Clusters)-1).Draw(t, "released")]
		c.Status, c.Phase, c.ReleasedAt = lifecycle.Destroyed, lifecycle.Released, epoch
		for i := range w.things {
			x := &w.things[i]
			if x.truth == ofLiving && x.of == c.ID {
				x.truth = ofReleased
			}
		}
	case "take over":
		x := &w.things[rapid.IntRange(0, len(w.things)-1).Draw(t, "taken over")]
		if x.Tags[tagkey.Installation] == here && x.truth != ofLiving {
			x.Tags[tagkey.Installation], x.truth = there, ofForeign
		}
	case "claim":
		x := &w.things[rapid.IntRange(0, len(w.things)-1).Draw(t, "claimed")]
		if x.truth == ofNobody {
			x.Tags, x.truth = map[string]string{tagkey.Owner: "rob"}, ofPerson
		}
	}
}

func TestNothingForeignIsRemovedAndNothingOfOursIsForgotten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		if rule := live(t, sound()); rule != "" {
			t.Fatal(rule)
		}
	})
}

// Each mutant breaks one thing that keeps others' resources safe or ours in sight. The rules have to notice.
func TestTheRulesNoticeEveryMutant(t *testing.T) {
	judged := func(change func(*lifecycle.Judged)) func(lifecycle.Seen, lifecycle.Known) []lifecycle.Judged {
		return func(s lifecycle.Seen, k lifecycle.Known) []lifecycle.Judged {
			out := lifecycle.Judge(s, k)
			for i := range out {
				change(&out[i])
			}
			return out
		}
	}
	for name, change := range map[string]func(*pipeline){
		"another installation's tag is ignored": func(p *pipeline) {
			p.judge = func(s lifecycle.Seen, k lifecycle.Known) []lifecycle.Judged {
				for i := range s.Groups {
					s.Groups[i].Installation = here
				}
				return lifecycle.Judge(s, k)
			}
		},
		"a living cluster's name does not count": func(p *pipeline) {
			p.judge = func(s lifecycle.Seen, k lifecycle.Known) []lifecycle.Judged {
				k.Clusters = slices.Clone(k.Clusters)
				for i := range k.Clusters {
					k.Clusters[i].Identities = nil
				}
				return lifecycle.Judge(s, k)
			}
		},
		"what is unknown is live": func(p *pipeline) {
			p.judge = judged(func(j *lifecycle.Judged) {
				if j.Class == lifecycle.ClassUnknown {
					j.Class, j.Of = lifecycle.ClassLive, &lifecycle.KnownCluster{}
				}
			})
		},
		"every group is managed": func(p *pipeline) {
			p.judge = judged(func(j *lifecycle.Judged) { j.Managed = true })
		},
		"a denied part says that everything in it is gone": func(p *pipeline) {
			p.group = func(a Account, seen []Resource) []lifecycle.Group {
				return Groups(a, slices.DeleteFunc(slices.Clone(seen), func(r Resource) bool { return r.Type == "role" }))
			}
		},
		"an approval is for every class": func(p *pipeline) {
			p.next = func(o lifecycle.KnownOrphan, j lifecycle.Judged, at time.Time, l lifecycle.FindingLimits) lifecycle.KnownOrphan {
				if o.State == lifecycle.OrphanApproved && j.Class != lifecycle.ClassLive {
					o.Class = j.Class
					return o
				}
				return o.Next(j, at, l)
			}
		},
		"one page that leaves it out is enough": func(p *pipeline) { p.gone = 1 },
		"it is told at once": func(p *pipeline) {
			p.next = func(o lifecycle.KnownOrphan, j lifecycle.Judged, at time.Time, _ lifecycle.FindingLimits) lifecycle.KnownOrphan {
				return o.Next(j, at, lifecycle.FindingLimits{})
			}
		},
		"it is never told": func(p *pipeline) {
			p.next = func(o lifecycle.KnownOrphan, j lifecycle.Judged, at time.Time, l lifecycle.FindingLimits) lifecycle.KnownOrphan {
				l.MinSights = 1000
				return o.Next(j, at, l)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := sound()
			change(&p)
			require.True(t, slices.ContainsFunc(make([]struct{}, 3000), mutantFound(p)), "no world shows it")
		})
	}
}

// mutantFound tries one world after another, each drawn from its own seed.
func mutantFound(p pipeline) func(struct{}) bool {
	seed := 0
	return func(struct{}) bool {
		seed++
		return rapid.Custom(func(t *rapid.T) string { return live(t, p) }).Example(seed) != ""
	}
}
