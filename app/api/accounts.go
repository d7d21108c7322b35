package api

import (
	"cmp"
	"maps"
	"net/http"
	"slices"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/policy"
)

// ListAccounts implements GET /api/v1/accounts.
func (s *server) ListAccounts(w http.ResponseWriter, r *http.Request) {
	list, err := s.App.VisibleAccounts(r.Context(), principal(r))
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	out := v1.Accounts{Items: make([]v1.Account, len(list))}
	for i, a := range list {
		out.Items[i] = toAccount(a)
	}
	writeOK(w, out)
}

// GetAccount implements GET /api/v1/accounts/{name}.
func (s *server) GetAccount(w http.ResponseWriter, r *http.Request, name string) {
	a, err := s.App.VisibleAccount(r.Context(), principal(r), name)
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	writeOK(w, toAccount(a))
}

// ProveAccount implements POST /api/v1/accounts/{name}/prove.
func (s *server) ProveAccount(w http.ResponseWriter, r *http.Request, name string) {
	a, err := s.App.ProveAccount(r.Context(), principal(r), name, app.Origin{Source: policy.SourceAPI})
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	writeReply(w, jsonType, http.StatusAccepted, toAccount(a))
}

// ListRooms implements GET /api/v1/rooms.
func (s *server) ListRooms(w http.ResponseWriter, r *http.Request) {
	list, err := s.App.VisibleRooms(r.Context(), principal(r))
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	out := v1.Rooms{Items: make([]v1.Room, len(list))}
	for i, room := range list {
		out.Items[i] = v1.Room{
			Profile: room.Profile, Platform: room.Platform, Account: room.Name, Number: room.Account, Region: room.Region,
			Clusters: room.Clusters, LimitedBy: room.By, MeasuredAt: room.MeasuredAt,
		}
	}
	writeOK(w, out)
}

func toAccount(a app.AccountState) v1.Account {
	out := v1.Account{
		Name: a.Name, Platform: a.Platform, Number: a.Number, State: v1.AccountState(a.State()), Regions: a.Regions, Teams: a.Teams,
		ExternalID: a.Proof.ExternalID, Live: a.Live, Cap: a.Cap, Priority: a.Priority, BaseDomain: a.BaseDomain,
	}
	if !a.Gone {
		p := a.Proof
		out.Proof = v1.AccountProof{Verdict: v1.AccountProofVerdict(p.Verdict), At: when(p.At), Running: p.Open, Reason: p.Reason, Message: cmp.Or(p.Why, p.Message, p.Trouble), Next: cmp.Or(p.Unproven.Next, p.Proof.Next, p.TroubleNext)}
	}
	for _, region := range slices.Sorted(maps.Keys(a.Fits)) {
		out.Room = append(out.Room, v1.AccountRoom{Region: region, Clusters: a.Fits[region]})
	}
	return out
}
