package app

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store/usage"
)

// AccountState is a cloud account as it stands.
type AccountState struct {
	profiles.Account
	Gone bool           // the catalogue no longer has it, and clusters are still there
	Live int            // clusters that are not proven destroyed
	Fits map[string]int // how many more fit, by region, where that was measured lately

	Proof ProofState
}

// VisibleAccounts returns the accounts that the principal's teams may use, by name. Whoever reads everything sees those that are gone, too.
func (s *Service) VisibleAccounts(ctx context.Context, who policy.Principal) ([]AccountState, error) {
	if err := MayForEverybody(who, policy.ActProfiles, "see the cloud accounts"); err != nil {
		return nil, err
	}
	_, every := who.Teams()
	return s.listAccounts(ctx, every, who.SeesAccount)
}

// AccountLevels returns every account of the catalogue, and what was measured of all, for the metrics.
func (s *Service) AccountLevels(ctx context.Context) ([]AccountState, []RoomState, error) {
	everything := func(profiles.Account) bool { return true }
	states, err := s.listAccounts(ctx, false, everything)
	if err != nil || len(states) == 0 {
		return nil, nil, err
	}
	rooms, err := s.listRooms(ctx, true, everything)
	return states, rooms, err
}

// listAccounts returns the accounts that are seen, by name, if gone with those that are gone.
func (s *Service) listAccounts(ctx context.Context, gone bool, sees func(profiles.Account) bool) ([]AccountState, error) {
	inForce := s.catalogue()
	if len(inForce.Accounts) == 0 && !gone {
		return nil, nil
	}
	counted, err := s.store.CountAccounts(ctx)
	if err != nil {
		return nil, err
	}
	fits, _, _, err := s.store.Room(ctx)
	if err != nil {
		return nil, err
	}
	proofs, err := s.store.Scans.Proofs(ctx)
	if err != nil {
		return nil, err
	}
	var out []AccountState
	for _, a := range inForce.Accounts {
		if sees(a) {
			one := stateOf(a, counted, fits)
			one.Proof = judgeProof(a, proofs)
			out = append(out, one)
		}
	}
	if gone {
		used, err := s.store.UsedAccounts(ctx)
		if err != nil {
			return nil, err
		}
		for _, u := range used {
			_, known := inForce.Account(u.Name)
			if !known && !slices.ContainsFunc(out, func(a AccountState) bool { return a.Name == u.Name }) {
				left := stateOf(profiles.Account{Name: u.Name, Platform: u.Platform, Number: u.Number}, counted, fits)
				left.Gone = true
				out = append(out, left)
			}
		}
	}
	slices.SortFunc(out, func(a, b AccountState) int { return cmp.Compare(a.Name, b.Name) })
	return out, nil
}

func stateOf(a profiles.Account, counted usage.Accounts, fits map[usage.AccountRegion]int) AccountState {
	state := AccountState{Account: a, Live: counted.Live[a.Name], Fits: map[string]int{}}
	for at, n := range fits {
		if at.Number == a.Number && at.Profile == "" {
			state.Fits[at.Region] = max(0, n-counted.Unasked[at])
		}
	}
	return state
}

// VisibleAccount returns one of them. An error names what there is instead.
func (s *Service) VisibleAccount(ctx context.Context, who policy.Principal, name string) (AccountState, error) {
	states, err := s.VisibleAccounts(ctx, who)
	if err != nil {
		return AccountState{}, err
	}
	var names []string
	for _, a := range states {
		if a.Name == name {
			return a, nil
		}
		names = append(names, a.Name)
	}
	text := fmt.Sprintf("The account %s does not exist.", name)
	if len(names) == 0 {
		return AccountState{}, Fail(NotFound, text+" The catalogue describes none for your teams. Ask a platform admin.")
	}
	return AccountState{}, Fail(NotFound, text+fmt.Sprintf(" Accepted: %s.", strings.Join(names, ", ")))
}

// State says in one word whether the account gets new clusters.
func (a AccountState) State() string {
	switch {
	case a.Gone:
		return "gone"
	case a.Maintenance:
		return "maintenance"
	case !a.Proof.IsProven():
		return "unproven"
	case a.Cap > 0 && a.Live >= a.Cap:
		return "full"
	}
	return "open"
}
