package app

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/duration"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store/scans"
)

// ProofState is what is known of whether clusters can be made in an account.
type ProofState struct {
	scans.Proof
	policy.Unproven // empty: it is proven
}

// IsProven reports whether the account gets clusters.
func (p ProofState) IsProven() bool { return p.Why == "" }

// HasFailed reports whether the last proof that found something out found that something is wrong.
func (p ProofState) HasFailed() bool {
	return p.Verdict == contract.ProofLacking || p.Verdict == contract.ProofRefused
}

// isAwaited reports whether a first proof is under way: what is created there waits for it.
func (p ProofState) isAwaited() bool { return p.Open && !p.Again }

// judgeProof says what the proofs of an account mean for its document as it is now. In one that had clusters before proofs began, only what would
// make every install fail stops new ones.
func judgeProof(a profiles.Account, all []scans.Proof) ProofState {
	isOf := func(p scans.Proof) bool { return p.Platform == a.Platform && p.Account == a.Number }
	i := indexVersion(all, a.Platform, a.Number, a.Version())
	if i < 0 {
		i = slices.IndexFunc(all, func(p scans.Proof) bool { return isOf(p) && p.Version == "" && p.Used })
		if slices.ContainsFunc(all, func(p scans.Proof) bool { return isOf(p) && p.Version != "" }) { // it changed since, more than once
			i = -1
		}
	}
	if i < 0 {
		p := ProofState{scans.Proof{Platform: a.Platform, Account: a.Number}, policy.Unproven{Why: "not proven yet"}}
		if i := slices.IndexFunc(all, isOf); i >= 0 {
			p.Why, p.ExternalID = "not proven since its document changed", all[i].ExternalID
		}
		return p
	}
	p := ProofState{Proof: all[i]}
	switch {
	case p.Verdict == contract.ProofProven, p.Used && p.Verdict != contract.ProofRefused:
	case p.Verdict != "":
		p.Why = "not proven: " + strings.TrimSuffix(p.Message, ".")
		p.Unproven.Next = messages.Sentence(strings.TrimSuffix(p.Proof.Next, ".")) + fmt.Sprintf(". It is proven again within minutes, or at once by: ocpctl account prove %s", a.Name)
	case p.Trouble != "":
		p.Why, p.Unproven.Next = "not proven yet: "+strings.TrimSuffix(p.Trouble, "."), p.TroubleNext
	default:
		p.Why = "not proven yet"
	}
	return p
}

// indexVersion returns where the proofs have a version of an account's document; below 0: nowhere.
func indexVersion(all []scans.Proof, platform, number, version string) int {
	return slices.IndexFunc(all, func(p scans.Proof) bool {
		return p.Platform == platform && p.Account == number && p.Version == version
	})
}

// listUnproven returns the accounts of a catalogue that get no new cluster, and the roles of those that have one, both by their numbers. opens: an
// account without a proof gets one, and the cluster waits for it.
func (s *Service) listUnproven(ctx context.Context, c profiles.Catalogue, opens bool) (map[string]policy.Unproven, map[string]*contract.CloudRole, error) {
	if len(c.Accounts) == 0 {
		return nil, nil, nil
	}
	all, err := s.store.Scans.Proofs(ctx)
	if err != nil {
		return nil, nil, err
	}
	var wanted []scans.WantedProof
	if opens {
		wanted = slices.DeleteFunc(s.WantedProofs(), func(w scans.WantedProof) bool { return indexVersion(all, w.Platform, w.Account, w.Version) >= 0 })
	}
	if len(wanted) > 0 {
		if err := s.store.Scans.OpenProofs(ctx, wanted, duration.Day); err != nil {
			return nil, nil, err
		}
		if all, err = s.store.Scans.Proofs(ctx); err != nil {
			return nil, nil, err
		}
	}
	out, roles := map[string]policy.Unproven{}, map[string]*contract.CloudRole{}
	for _, a := range c.Accounts {
		p := judgeProof(a, all)
		if !p.IsProven() && !p.isAwaited() {
			out[a.Number] = p.Unproven
		}
		if a.Role != "" {
			roles[a.Number] = &contract.CloudRole{ARN: a.Role, ExternalID: p.ExternalID}
		}
	}
	return out, roles, nil
}

// WantedProofs returns what has to be proven of the catalogue's accounts, those with an enabled profile.
func (s *Service) WantedProofs() (wanted []scans.WantedProof) {
	inForce := s.catalogue()
	for _, a := range inForce.Accounts {
		var domains []string
		var home string
		for _, p := range inForce.All() {
			if p.Enabled && p.Platform == a.Platform {
				home, domains = p.DefaultRegion, append(domains, p.BaseDomains.Default)
			}
		}
		if home == "" {
			continue
		}
		if a.BaseDomain != "" {
			domains = []string{a.BaseDomain}
		}
		slices.Sort(domains)
		spec := scans.Spec{
			Installation: s.policy.Installation, HomeRegion: home, Regions: a.Regions, BaseDomains: slices.Compact(domains),
			CloudCredentialsRef: a.CredentialsRef, ServiceAccounts: a.ServiceAccounts,
		}
		if a.CredentialsRef == "" && len(a.ServiceAccounts) == 0 {
			spec.CloudCredentialsRef = s.installs.Clouds[a.Platform].CredentialsRef
		}
		if a.Role != "" {
			spec.CloudRole = &contract.CloudRole{ARN: a.Role} // the store has its external id
		}
		wanted = append(wanted, scans.WantedProof{Version: a.Version(), Wanted: scans.Wanted{Platform: a.Platform, Account: a.Number, Spec: spec}})
	}
	return wanted
}

// ProveAccount has an account proven again now. Whoever may create clusters in an account that is only for their teams may ask, and platform admins.
func (s *Service) ProveAccount(ctx context.Context, who policy.Principal, name string, origin Origin) (AccountState, error) {
	a, err := s.VisibleAccount(ctx, who, name)
	if err != nil {
		return AccountState{}, err
	}
	teams := who.TeamsFor(policy.ActCreate)
	if own := len(a.Teams) > 0 && (teams == nil || slices.ContainsFunc(teams, a.MayUse)); !own {
		if err := MayForEverybody(who, policy.ActScan, "have an account proven that is not your team's own"); err != nil {
			return AccountState{}, err
		}
	}
	if origin, err = CheckReason(origin, false); err != nil {
		return AccountState{}, err
	}
	all := s.WantedProofs()
	i := slices.IndexFunc(all, func(w scans.WantedProof) bool { return w.Platform == a.Platform && w.Account == a.Number })
	if a.Gone || i < 0 {
		return AccountState{}, Fail(Conflict, fmt.Sprintf("No cluster can be made in the account %s: the catalogue no longer has it, or has no enabled profile for it. Nothing is to be proven.", name))
	}
	if err := s.store.Scans.AskProof(ctx, all[i], s.StoreOrigin(origin, who)); err != nil {
		return AccountState{}, err
	}
	return s.VisibleAccount(ctx, who, name)
}
