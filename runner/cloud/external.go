package cloud

import (
	"regexp"
	"slices"
	"strings"
)

// Record is a DNS record, as far as it tells who made it.
type Record struct {
	Name  string // without a final dot
	Type  string
	Texts []string // of a TXT record
}

// Owners are the owner ids with which external-dns marked a record; empty: nothing says who made it.
type Owners []string

// Only reports that nobody but the target's own external-dns can have made the record: all its marks have an owner id that no other cluster
// has. The usual owner ids, such as "default" or a team's name, prove nothing.
func (o Owners) Only(t Target) bool {
	own := []string{t.Cluster}
	for _, id := range t.Identities {
		own = append(own, id.InfraID, id.ClusterUUID)
	}
	return len(o) > 0 && !slices.ContainsFunc(o, func(owner string) bool { return owner == "" || !slices.Contains(own, owner) })
}

// String says why a record stays.
func (o Owners) String() string {
	if len(o) == 0 {
		return "has no mark that says who made it"
	}
	return "is external-dns's, with the owner id " + strings.Join(o, ", ")
}

// ExternalOwners reads the owners of each record. external-dns keeps them in TXT records with its heritage, which are called as the record is,
// or after its type: a-shop.example.com (kubernetes-sigs/external-dns registry/txt.go; the operator of OpenShift puts external-dns- before it).
func ExternalOwners(records []Record) []Owners {
	marks := map[string]Owners{}
	for _, r := range records {
		if owner, ok := r.ownerMark(); ok {
			marks[plainName(r.Name)] = append(marks[plainName(r.Name)], owner)
		}
	}
	all := make([]Owners, len(records))
	for i, r := range records {
		if owner, ok := r.ownerMark(); ok {
			all[i] = Owners{owner}
			continue
		}
		name := plainName(r.Name)
		for _, kind := range []string{"", strings.ToLower(r.Type) + "-", "cname-"} { // an alias of Route 53 is a CNAME to it
			for _, prefix := range []string{"", "external-dns-"} {
				all[i] = append(all[i], marks[prefix+kind+name]...)
			}
		}
		slices.Sort(all[i])
		all[i] = slices.Compact(all[i])
	}
	return all
}

// plainName undoes how Route 53 spells a wildcard.
func plainName(name string) string { return strings.ToLower(strings.ReplaceAll(name, `\052`, "*")) }

var ownerID = regexp.MustCompile(`(?:^|,)external-dns/owner=([^,"]*)`)

// ownerMark returns the owner id of a TXT record that external-dns wrote.
func (r Record) ownerMark() (owner string, ok bool) {
	if r.Type != "TXT" {
		return "", false
	}
	for _, text := range r.Texts {
		text = strings.Trim(text, `"`)
		found := ownerID.FindStringSubmatch(text)
		if found != nil && slices.Contains(strings.Split(text, ","), "heritage=external-dns") {
			return found[1], true
		}
	}
	return "", false
}
