package cleanup

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/names"
	"github.com/ocpctl/ocpctl/internal/tagkey"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/attempts"
	"github.com/ocpctl/ocpctl/store/scans"
)

// Plan says how an orphan is removed.
type Plan struct {
	Orphan  string
	Class   lifecycle.OrphanClass
	State   lifecycle.OrphanState
	Why     string // it is in this state
	Cluster string // whose teardown removes it
	Name    string // of that cluster

	Refused string // why no teardown can remove it; empty: one can
	Waits   string // why it cannot begin now; empty: it can
	Doubt   string // why only a person may approve it; empty: nothing speaks against the setting

	Add     []attempts.IdentityRow // names that the teardown has to learn first
	Calls   []Call                 // of the teardown, in their order
	Removed []Resource             // that are there and that these calls remove, also of other orphans with the same names
	Kept    []Resource             // that are there and that they do not remove; the teardown counts what has the cluster's tag or names
}

// Call is one step of the teardown.
type Call struct{ What, Call string }

// Resource is a resource of the orphan, with the call that removes it, or why none does.
type Resource struct{ ID, Type, Region, Name, Why string }

// Config is what a plan depends on besides the orphan. Each function gets the orphan's platform; nil is like an empty answer.
type Config struct {
	BaseDomain func(platform string) string // of clusters that only tags tell of; empty: it is unknown
	Account    func(platform string) string // that runners use; empty: it is not known
}

func onPlatform(platform string, value func(string) string) string {
	if value == nil {
		return ""
	}
	return value(platform)
}

// PlanOf returns the plan for an orphan as it is now. It refuses everything that is not certainly this installation's own.
func (c Config) PlanOf(r scans.Removal) Plan {
	p := Plan{Orphan: r.Orphan.ID, Class: r.Orphan.Class, State: r.Orphan.State, Why: r.Orphan.StateReason()}
	seen, err := resources(r.Seen)
	beside, failed := resources(r.Beside)
	if err = errors.Join(err, failed); err != nil {
		p.Refused = err.Error()
		return p
	}
	if p.Refused = cmp.Or(whyRefused(r, seen), whyContested(r, beside), whyExempt(r)); p.Refused != "" {
		return p
	}
	var of names.Scope
	var known []scans.RecordedName
	if r.Of == nil {
		of, known, p.Refused = c.unknown(r, seen, beside)
	} else {
		of, known, p.Refused, p.Waits = ofKnown(r)
	}
	p.Cluster, p.Name = of.Cluster, of.Name
	p.Refused = cmp.Or(p.Refused, c.elsewhere(r))
	if r.Of == nil && p.Refused == "" {
		p.Refused, p.Doubt = mayLive(r.At, seen)
	}
	if p.Refused != "" {
		return p
	}
	if p.Add, p.Refused = missing(r, of, known); p.Refused != "" {
		return p
	}
	for _, add := range p.Add {
		known = append(known, scans.RecordedName{InfraID: add.InfraID, CCOName: add.CCOName, Region: add.Region})
	}
	p.sort(of, known, slices.Concat(seen, beside))
	p.Calls = calls(r.Orphan.Account, of, known)
	if len(p.Removed) == 0 {
		p.Refused = "no teardown searches for any of its resources; remove them by hand"
	}
	return p
}

func resources(rows []scans.SeenRow) ([]contract.SeenResource, error) {
	seen := make([]contract.SeenResource, len(rows))
	for i, row := range rows {
		if err := json.Unmarshal(row.Resource, &seen[i]); err != nil {
			return nil, fmt.Errorf("resource %s as stored cannot be read", row.ID)
		}
	}
	return seen, nil
}

// whyRefused says why an orphan is not certainly this installation's own. It looks at every resource itself, not only at the orphan's class.
func whyRefused(r scans.Removal, seen []contract.SeenResource) string {
	o := r.Orphan
	switch {
	case !slices.Contains(lifecycle.Removable, o.Class):
		return fmt.Sprintf("ocpctl never removes what is %s", o.Class)
	case o.GoneAt != nil || len(seen) == 0:
		return "nothing of it is there any more"
	case o.Installation != "" && !ours(r, o.Installation):
		return fmt.Sprintf("it belongs to the installation %q", o.Installation)
	case len(r.Taken) > 0:
		return fmt.Sprintf("the cluster %s recorded the name %s, which belongs to it for ever; remove it by hand", r.Taken[0].Cluster, r.Taken[0].Name)
	case o.Class != lifecycle.ClassReleased && (!o.ManagedBy || o.Installation == "" || o.ClusterTag == ""):
		return "not each of its resources is tagged as ocpctl's, as this installation's and with a cluster's id"
	}
	for _, s := range seen {
		if why := foreign(r, s); why != "" {
			return fmt.Sprintf("%s %s", s.ID, why)
		}
	}
	return ""
}

// whyContested says which other resource has the mark of this cluster and that of another owner. A teardown deletes nothing while there is one.
func whyContested(r scans.Removal, beside []contract.SeenResource) string {
	for _, s := range beside {
		if why := foreign(r, s); why != "" {
			return fmt.Sprintf("%s has a mark of this cluster, but %s; a teardown deletes nothing until the wrong tag is removed", s.ID, why)
		}
	}
	return ""
}

// whyExempt says which other orphans stay by decision. The teardown is the whole cluster's, so it would not stop at them.
func whyExempt(r scans.Removal) string {
	if len(r.Exempt) == 0 {
		return ""
	}
	return fmt.Sprintf("its teardown would also delete orphans that are exempt: %s. Approve all of them together, or delete this orphan's resources by hand", strings.Join(r.Exempt, ", "))
}

// ours reports that an InstallationId is this installation's, or was when the cluster was accepted.
func ours(r scans.Removal, installation string) bool {
	return installation == r.Installation || r.Of != nil && installation == r.Of.Installation
}

// foreign says why a resource belongs to somebody else; empty if it does not.
func foreign(r scans.Removal, s contract.SeenResource) string {
	cluster, name, recorded := r.Orphan.ClusterTag, r.Orphan.ClusterTag, time.Time{}
	if r.Of != nil {
		cluster, name, recorded = r.Of.ID, r.Of.Name, r.Of.AcceptedAt
	}
	by, of, installation := s.Tags[tagkey.ManagedBy], s.Tags[tagkey.ClusterID], s.Tags[tagkey.Installation]
	switch {
	case installation != "" && !ours(r, installation):
		return fmt.Sprintf("belongs to the installation %q", installation)
	case of != "" && of != cluster:
		return fmt.Sprintf("is tagged with the cluster %q", of)
	case by != "" && by != tagkey.ControlPlaneName:
		return fmt.Sprintf("is managed by %q", by)
	case contract.IsOlder(s.MadeAt, contract.AcceptedAt(recorded, cluster)):
		return fmt.Sprintf("was made at %s, before the cluster %s was accepted, so somebody else put the cluster's tags or name on it", s.MadeAt.UTC().Format("15:04 MST on 2 January 2006"), name)
	}
	return ""
}

// elsewhere says why the orphan's account is not certainly that of its cluster: a teardown searches in the cluster's account, and nowhere else.
// Empty: it is.
func (c Config) elsewhere(r scans.Removal) string {
	var accounts []string
	if r.Of != nil {
		accounts = r.Of.Accounts
	}
	if account := onPlatform(r.Orphan.Platform, c.Account); len(accounts) == 0 && account != "" {
		accounts = []string{account}
	}
	if len(accounts) == 0 {
		return fmt.Sprintf("it is in the account %s, and that of its cluster is not known; set account in the configuration, or remove it by hand", r.Orphan.Account)
	}
	for _, account := range accounts {
		if account != r.Orphan.Account {
			return fmt.Sprintf("it is in the account %s, but the teardown of its cluster works in %s; remove it by hand", r.Orphan.Account, account)
		}
	}
	return ""
}

// ofKnown returns what the teardown of a known cluster goes by.
func ofKnown(r scans.Removal) (of names.Scope, known []scans.RecordedName, refused, waits string) {
	c := *r.Of
	of = names.Scope{
		Platform: c.Platform, Installation: cmp.Or(c.Installation, r.Installation), Cluster: c.ID, Attempt: c.Newest, Name: c.Name, BaseDomain: c.BaseDomain, Region: c.Region,
	}
	released := c.DestroyedAt != nil
	switch {
	case r.Orphan.Class == lifecycle.ClassUnknown:
		refused = "its cluster is known by now; the next scan judges it again"
	case r.Orphan.Class == lifecycle.ClassReleased && !released:
		refused = fmt.Sprintf("its cluster %s is %s by now; the next scan judges it again", c.Name, c.Status)
	case released && !r.Orphan.LastSeenAt.After(*c.DestroyedAt):
		refused = "it was not seen since its cluster was destroyed; the next scan judges it again"
	case c.NameOf != "":
		waits = fmt.Sprintf("the name %s is that of the cluster %s now, and a teardown deletes DNS records by that name; it begins after that cluster is destroyed", c.Name, c.NameOf)
	case c.Open:
		waits = "an attempt of its cluster is open; it begins when that has ended"
	case !released && c.Desired == lifecycle.Present && c.Status != lifecycle.Ready:
		waits = "its cluster is being created; it begins when that is ready or has ended"
	}
	return of, c.Names, refused, waits
}

// unknown returns what the teardown of an adopted cluster goes by: its tags.
func (c Config) unknown(r scans.Removal, seen, beside []contract.SeenResource) (of names.Scope, known []scans.RecordedName, refused string) {
	of = names.Scope{Platform: r.Orphan.Platform, Installation: r.Installation, Cluster: r.Orphan.ClusterTag, BaseDomain: onPlatform(r.Orphan.Platform, c.BaseDomain)}
	var infraIDs []string
	for _, s := range seen {
		of.Name = cmp.Or(of.Name, s.Tags[tagkey.ClusterName])
		if !isGlobal(s.Region) {
			of.Region = cmp.Or(of.Region, s.Region)
		}
		for key := range s.Tags {
			if infraID, ok := strings.CutPrefix(key, tagkey.KubernetesCluster); ok && !slices.Contains(infraIDs, infraID) {
				infraIDs = append(infraIDs, infraID)
			}
		}
	}
	for _, s := range beside {
		if !isGlobal(s.Region) {
			of.Region = cmp.Or(of.Region, s.Region)
		}
	}
	var group string
	if of.Platform == names.IBMCloud { // whose names tell it, and no tag
		infraIDs, group = of.FromNames(namesOf(seen), names.MostAttempts)
	}
	switch {
	case !strings.HasPrefix(of.Cluster, "clu_"):
		return of, nil, fmt.Sprintf("%q is not the id of a cluster", of.Cluster)
	case of.Platform == names.Kubernetes:
		return of, nil, "no record tells how its hub is reached; remove its namespace by hand"
	case of.Name == "":
		return of, nil, "no tag tells the name of its cluster"
	case of.BaseDomain == "":
		return of, nil, "the base domain of its cluster is unknown; set recovery's base domain, or remove it by hand"
	}
	slices.Sort(infraIDs)
	for _, infraID := range infraIDs {
		if of.IsInfraID(infraID) {
			known = append(known, scans.RecordedName{InfraID: infraID, CCOName: group, Region: of.Region})
		}
	}
	return of, append(known, ccoNames(of, slices.Concat(seen, beside))...), ""
}

// ccoNames returns ccoctl's names that tags of the cluster's roles tell. What ccoctl made is an orphan beside the installer's, because it has
// other marks, and one teardown removes both.
func ccoNames(of names.Scope, all []contract.SeenResource) (known []scans.RecordedName) {
	for _, s := range all {
		for _, name := range of.CCONamesIn(s.Tags) {
			if one := (scans.RecordedName{CCOName: name, Region: of.Region}); !slices.Contains(known, one) {
				known = append(known, one)
			}
		}
	}
	return known
}

func namesOf(seen []contract.SeenResource) (all []string) {
	for _, s := range seen {
		all = append(all, s.Name)
	}
	return all
}

// afterEnd is how long after the end of its longest life an unknown cluster is certainly not meant to live any more.
const afterEnd = time.Hour

// mayLive says until when an unknown cluster may be alive: another control plane with this installation's id may have it, or it is newer than
// the backup from which the database was restored. doubt: no tag tells.
func mayLive(now time.Time, seen []contract.SeenResource) (refused, doubt string) {
	var end time.Time
	for _, s := range seen {
		if at, err := time.Parse(time.RFC3339, s.Tags[tagkey.TTLExpiry]); err == nil && at.After(end) {
			end = at
		}
	}
	switch {
	case end.IsZero():
		return "", "no tag tells when the cluster ends, so it may be alive: another control plane may have it, or it is newer than a restored backup. Approve it only if you are certain that nobody uses it"
	case now.Before(end.Add(afterEnd)):
		return fmt.Sprintf("its cluster may be alive until %s: another control plane may have it, or it is newer than a restored backup; "+
			"if the database was restored, recover it (docs/backup.md)", end.UTC().Format("15:04 MST on 2 January 2006")), ""
	}
	return "", ""
}

// missing returns the orphan's names that its cluster did not record. Only names that ocpctl or the installer give to that cluster are ever
// added.
func missing(r scans.Removal, of names.Scope, known []scans.RecordedName) (add []attempts.IdentityRow, refused string) {
	for name := range strings.SplitSeq(r.Orphan.Identity, ",") {
		recorded := func(n scans.RecordedName) bool { return n.InfraID == name || n.CCOName == name }
		if name == "" || slices.ContainsFunc(known, recorded) {
			continue
		}
		for _, at := range r.Orphan.Regions {
			if !isGlobal(at) && at != of.Region {
				return nil, fmt.Sprintf("%s is in %s, but its cluster is in %s; remove it by hand", name, at, of.Region)
			}
		}
		one := attempts.IdentityRow{Account: r.Orphan.Account, Region: of.Region}
		switch {
		case of.IsInfraID(name):
			one.InfraID, one.Metadata = name, string(of.MetadataJSON(names.Identity{InfraID: name, Account: one.Account}))
		case of.IsCCOName(name):
			one.CCOName = name
		default:
			return nil, fmt.Sprintf("%s is no name that the installer or ocpctl gives to the cluster %s; remove it by hand", name, of.Name)
		}
		add = append(add, one)
	}
	return add, ""
}

func isGlobal(region string) bool { return region == "" || region == "global" }
