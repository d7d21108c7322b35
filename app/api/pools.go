package api

import (
	"net/http"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/lifecycle/pool"
	"github.com/ocpctl/ocpctl/policy"
)

// ListPools implements GET /api/v1/pools.
func (s *server) ListPools(w http.ResponseWriter, r *http.Request) {
	list, err := s.App.VisiblePools(r.Context(), principal(r))
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	out := v1.Pools{Items: make([]v1.Pool, len(list))}
	for i, p := range list {
		out.Items[i] = toPool(p)
	}
	writeOK(w, out)
}

// GetPool implements GET /api/v1/pools/{name}.
func (s *server) GetPool(w http.ResponseWriter, r *http.Request, name string) {
	p, err := s.App.VisiblePool(r.Context(), principal(r), name)
	s.writePool(w, r, p, err)
}

// ChangePool implements POST /api/v1/pools/{name}.
func (s *server) ChangePool(w http.ResponseWriter, r *http.Request, name string) {
	var said v1.PoolChange
	if !s.readDocument(w, r, &said, false, maxBody) {
		return
	}
	p, err := s.App.ChangePool(r.Context(), principal(r), name, app.PoolAction(said.Action), said.Size, app.Origin{Source: policy.SourceAPI, Why: said.Reason})
	s.writePool(w, r, p, err)
}

// AdvisePool implements GET /api/v1/pools/{name}/advice.
func (s *server) AdvisePool(w http.ResponseWriter, r *http.Request, name string) {
	a, err := s.App.AdvisePool(r.Context(), principal(r), name)
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	out := v1.PoolAdvice{
		Name: a.Pool.Name, Since: a.Since.UTC(), Zone: a.Pool.WorkHours.Zone().String(), Claims: a.Claims, Anew: a.Anew, InstallSeconds: int64(a.Install.Seconds()), WakeSeconds: int64(a.Wake.Seconds()),
		Size: a.Pool.WantedSize(), AdvisedSize: a.Size, Running: a.Pool.Running, RunningByClaims: a.Pool.ByClaims, Hours: make([]v1.PoolHour, len(a.Workdays)),
	}
	for hour, plan := range a.Workdays {
		weekend := a.Weekends[hour]
		out.Hours[hour] = v1.PoolHour{Hour: hour, WorkdayRequests: plan.Requests, WorkdayRunning: plan.Running, WeekendRequests: weekend.Requests, WeekendRunning: weekend.Running}
	}
	writeOK(w, out)
}

func (s *server) writePool(w http.ResponseWriter, r *http.Request, p app.PoolState, err error) {
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	out := v1.PoolDetail{Pool: toPool(p), Clusters: []v1.PoolCluster{}}
	for _, c := range p.ListClusters(principal(r)) {
		out.Clusters = append(out.Clusters, v1.PoolCluster{
			ClusterID: c.ID, Name: c.Name, State: v1.PoolClusterState(c.State), Owner: c.Owner, Team: c.Team, AcceptedAt: c.AcceptedAt.UTC(), ReadyAt: when(c.ReadyAt), ClaimedAt: when(c.ClaimedAt),
		})
	}
	writeOK(w, out)
}

func toPool(p app.PoolState) v1.Pool {
	out := v1.Pool{
		Name: p.Name, DisplayName: p.DisplayName, Description: p.Description, Mode: v1.PoolMode(p.Mode()), Profile: p.Profile, Region: p.Region, Version: p.Version,
		Team: p.Team, Teams: p.Teams, Size: p.WantedSize(), Resized: p.Settings.Size != nil, Running: p.Running, Max: p.Max,
		Waiting: p.Count(pool.Waiting), Asleep: p.Count(pool.Asleep), Changing: p.Count(pool.Changing), Making: p.Making(), Claimed: p.Claimed(), Ending: p.Count(pool.Ending),
		SpentCents: p.SpentCents, MayCostCents: p.WaitingCents, Failures: p.Failures, Why: chatops.PoolWhy(p.Acts.Why, p.Refusal), ChangedBy: p.Settings.ChangedBy, ChangedAt: when(p.Settings.ChangedAt),
	}
	for _, why := range p.Acts.Why {
		out.Reasons = append(out.Reasons, v1.PoolReasons(why))
	}
	return out
}
