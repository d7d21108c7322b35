package lifecycle

import (
	"cmp"
	"fmt"
	"strings"
	"time"
)

// BrakeKind says what keeps new clusters from being created.
type BrakeKind string

// The kinds.
const (
	Freeze  BrakeKind = "freeze"  // an admin, until a time
	Breaker BrakeKind = "breaker" // creates that failed, until one succeeds
	Proof   BrakeKind = "proof"   // a cloud account's first proof, until it ends
)

// LongestProof is how long a proof of an account may take: it only reads, and clusters wait for it.
const LongestProof = 15 * time.Minute

// Brake keeps creates from beginning where it applies. What runs goes on unless it is drained, and so does everything else: teardowns, sleep, access. It is shown in
// every cluster that waits for it. The database keeps times in UTC and to the microsecond, and so does a brake.
type Brake struct {
	ID    string    `json:"id,omitempty"`
	Kind  BrakeKind `json:"kind,omitempty"`
	Where Place     `json:"where,omitzero"` // an empty field: anywhere
	By    string    `json:"by,omitempty"`   // who froze, as people know them
	Words string    `json:"words,omitempty"`
	Since time.Time `json:"since,omitzero"`
	Until time.Time `json:"until,omitzero"` // the end of a freeze; when a proof is waited for no longer; from when a breaker has one cluster tried

	DrainAt time.Time `json:"drainAt,omitzero"` // of a freeze: when what lives there ends; zero: it goes on

	Code     string `json:"code,omitempty"`     // of a breaker: the reason of the failures
	Failures int    `json:"failures,omitempty"` // how many there were in a row
}

// Place is where a cluster is created, and for whom. In a Brake an empty field stands for any.
type Place struct {
	Platform string `json:"platform,omitempty"`
	Account  string `json:"account,omitempty"`
	Region   string `json:"region,omitempty"`
	Profile  string `json:"profile,omitempty"`
	Team     string `json:"team,omitempty"`
	Version  string `json:"version,omitempty"` // of OpenShift
}

// IsZero reports that there is no brake.
func (b Brake) IsZero() bool { return b == Brake{} }

// Holds reports that the brake keeps a create from beginning at that time.
func (b Brake) Holds(now time.Time) bool {
	return b.Kind == Breaker || now.Before(b.Until)
}

// Covers reports that the place is within this one.
func (p Place) Covers(where Place) bool {
	for _, pair := range [][2]string{
		{p.Platform, where.Platform}, {p.Account, where.Account}, {p.Region, where.Region}, {p.Profile, where.Profile}, {p.Team, where.Team}, {p.Version, where.Version},
	} {
		if pair[0] != "" && pair[0] != pair[1] {
			return false
		}
	}
	return true
}

// BrakeAt returns the brake that holds at a place: of several, the one that holds longest; nil: none does.
func BrakeAt(brakes []Brake, where Place, now time.Time) (found *Brake) {
	for i, b := range brakes {
		if b.Holds(now) && b.Where.Covers(where) && (found == nil || cmp.Or(found.Until.Compare(b.Until), strings.Compare(found.ID, b.ID)) < 0) {
			found = &brakes[i]
		}
	}
	return found
}

// String says what the brake does where; nothing for the whole installation.
func (p Place) String() string {
	var parts []string
	for _, pair := range [][2]string{
		{"of the team ", p.Team}, {"of the profile ", p.Profile}, {"of the version ", p.Version}, {"on ", p.Platform}, {"in the account ", p.Account}, {"in the region ", p.Region},
	} {
		if pair[1] != "" {
			parts = append(parts, pair[0]+pair[1])
		}
	}
	return strings.Join(parts, " ")
}

// String returns the brake as a sentence without a capital and a final stop; empty: there is none.
func (b Brake) String() string {
	if b.IsZero() {
		return ""
	}
	braked := strings.TrimSpace("new clusters " + b.Where.String())
	if b.Kind == Breaker {
		return fmt.Sprintf("%s have had to wait since %s, because %d creates in a row failed with %s; one is tried from %s", braked, sayMoment(b.Since), b.Failures, b.Code, sayMoment(b.Until))
	}
	if b.Kind == Proof {
		return fmt.Sprintf("%s have to wait until a check shows that they can be created there, at the latest until %s", braked, sayMoment(b.Until))
	}
	text := fmt.Sprintf("%s froze %s from %s until %s", b.By, braked, sayMoment(b.Since), sayMoment(b.Until))
	if !b.DrainAt.IsZero() {
		text += ", and the clusters there end by " + sayMoment(b.DrainAt)
	}
	return addWords(text, b.Words)
}

// sayMoment writes a time as reasons do.
func sayMoment(at time.Time) string { return at.UTC().Format("15:04 MST on 2 January") }

// isBraked reports that a create may not begin now, and shows why.
func (m *deciding) isBraked() bool {
	if m.f.Brake == nil || !m.f.Brake.Holds(m.f.Now) {
		return false
	}
	m.braked = true
	m.move(Pending, AwaitingCapacity, MoveReason{Brake: *m.f.Brake})
	return true
}
