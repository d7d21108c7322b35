package policy

import (
	"time"

	"github.com/ocpctl/ocpctl/profiles"
)

// Settings is what the installation adds to the profiles.
type Settings struct {
	Hour         time.Duration // length of an hour of TTL and of profile maximum; zero: a real hour. Only a demo changes it
	Grace        time.Duration // in place of the profile's grace; zero: the profile's
	Installation string        // id of this control plane, the InstallationId tag
}

// Scale turns a duration people asked for into one this installation counts with.
func (s Settings) Scale(d time.Duration) time.Duration {
	if s.Hour <= 0 || s.Hour == time.Hour {
		return d
	}
	return time.Duration(float64(d) / float64(time.Hour) * float64(s.Hour))
}

// Evaluate judges a wish for a new cluster. Every question is asked, whatever the earlier answers were.
func Evaluate(r Request, c profiles.Catalogue, s Settings) Verdict { return Verdict{} }

// May judges an act ("destroy", "extend") on a cluster that exists: permission alone, because whoever may create may also end.
func May(r Request, act string) Verdict { return Verdict{} }

// EffectiveTags are the tags every resource of the cluster carries: the required ones, InstallationId and the user's own.
func EffectiveTags(r Request, g Grant, clusterID, jobID string, acceptedAt time.Time, installation string) map[string]string {
	return nil
}

// PRName names the cluster of a pull request and profile. fallback is for when name is taken.
func PRName(repo string, number int, profile string, generation int) (name, fallback string) {
	return "", ""
}

// Closest finds the candidate a person most likely meant; ok is false when nothing is near.
func Closest(word string, candidates []string) (best string, ok bool) { return "", false }
