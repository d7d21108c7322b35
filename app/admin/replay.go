package admin

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"slices"
	"strconv"
	"time"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/policy/catalogue"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store"
)

// The bounds of a replay.
const (
	ReplaySpan   = 30 * 24 * time.Hour
	mostReplayed = 10_000 // requests, the newest
	replayPage   = 500
	mostExamples = 5 // of each check
)

// Replay is what a changed catalogue would say to the requests of ReplaySpan, compared with what the one in force says. Each is judged by what
// was counted when it was made, and with the roles that its requester had.
type Replay struct {
	Hash     string // of the changed catalogue; empty: it has problems, and nothing was judged
	Problems profiles.Problems

	Requests  int
	More      bool                // there are older ones within ReplaySpan, which were not judged
	Uncounted int                 // of the requests, those from before usage was kept: for them nothing counts as used
	Roles     bool                // identities or people differ, which is not part of a replay
	Removed   []store.UsedAccount // cloud accounts that the changed catalogue no longer has, and clusters are still in
	Counts    map[policy.Change]int
	Groups    []ReplayGroup // what restricts first, then the most requests first
}

// ReplayGroup is the requests for which one check changes the verdict.
type ReplayGroup struct {
	Change          policy.Change
	Check           string
	Requests        int
	People          int
	Teams, Profiles []string
	Examples        []ReplayExample

	principals map[string]bool
}

// ReplayExample is one of a group's requests.
type ReplayExample struct {
	Request, Principal, Team, Profile string
	At                                time.Time
	Message                           string // of the check
}

// ReplayCatalogue judges the requests of ReplaySpan by the catalogue in files. It shows what everybody asked for, so it is audited.
func (s *Service) ReplayCatalogue(ctx context.Context, p policy.Principal, files map[string]string, origin app.Origin) (Replay, error) {
	if err := app.MayForEverybody(p, policy.ActCatalogue, "replay requests by another catalogue"); err != nil {
		return Replay{}, err
	}
	out, err := s.replay(ctx, files)
	if err != nil || len(out.Problems) > 0 {
		return out, err
	}
	meta := map[string]string{"why": "requests were replayed by another catalogue", "catalogue": out.Hash, "requests": strconv.Itoa(out.Requests)}
	if err := s.store.Audit(ctx, s.core.StoreOrigin(origin, p), "catalogue.replayed", "", meta); err != nil {
		return Replay{}, fmt.Errorf("record the replay: %w", err)
	}
	return out, nil
}

// loadFiles reads a catalogue as the server would. Problems are a result.
func (s *Service) loadFiles(files map[string]string) (read catalogue.Catalogue, problems profiles.Problems, err error) {
	tree, err := newMemoryFolder(files)
	if err != nil {
		return read, nil, err
	}
	load := s.load
	if load == nil {
		load = func(tree fs.FS) (catalogue.Catalogue, error) { return catalogue.Load(tree, s.issuers...) }
	}
	read, err = load(tree)
	switch {
	case errors.As(err, &problems):
		return read, problems, nil
	case err != nil:
		return read, profiles.Problems{{Got: err.Error(), Accept: "a directory with profiles/*.yaml"}}, nil
	}
	return read, nil, nil
}

func (s *Service) replay(ctx context.Context, files map[string]string) (Replay, error) {
	changed, problems, err := s.loadFiles(files)
	if err != nil || len(problems) > 0 {
		return Replay{Problems: problems}, err
	}
	inForce := s.catalogue()
	out := Replay{
		Hash: changed.Hash, Counts: map[policy.Change]int{},
		Roles: !reflect.DeepEqual(inForce.Identities, changed.Identities) || !reflect.DeepEqual(inForce.People, changed.People),
	}
	used, err := s.store.UsedAccounts(ctx)
	if err != nil {
		return Replay{}, err
	}
	for _, u := range used {
		if _, stays := changed.Account(u.Name); !stays {
			out.Removed = append(out.Removed, u)
		}
	}
	groups := map[string]*ReplayGroup{}
	since, last := time.Now().Add(-ReplaySpan), store.Decision{}
	for out.Requests < mostReplayed {
		page, err := s.store.Decisions(ctx, since, last, replayPage)
		if err != nil {
			return Replay{}, err
		}
		for _, d := range page {
			if err := s.replayOne(d, inForce, changed, &out, groups); err != nil {
				return Replay{}, err
			}
		}
		if len(page) < replayPage {
			break
		}
		last = page[len(page)-1]
		out.More = out.Requests >= mostReplayed
	}
	out.Groups = sortGroups(groups)
	return out, ctx.Err()
}

// replayOne judges a request by both catalogues, and counts what changes.
func (s *Service) replayOne(d store.Decision, inForce, changed catalogue.Catalogue, out *Replay, groups map[string]*ReplayGroup) error {
	var r policy.Request
	var used policy.Usage
	if err := json.Unmarshal(d.Request, &r); err != nil {
		return fmt.Errorf("read the request %s: %w", d.ID, err)
	}
	out.Requests++
	if len(d.Usage) == 0 {
		out.Uncounted++
	} else if err := json.Unmarshal(d.Usage, &used); err != nil {
		return fmt.Errorf("read what was counted for %s: %w", d.ID, err)
	}
	before, after := s.core.JudgeBy(inForce, r, used, d.At), s.core.JudgeBy(changed, r, used, d.At)
	change, checks := policy.Compare(before, after)
	if change == "" {
		return nil
	}
	out.Counts[change]++
	granted := after.Grant
	if !after.Allowed {
		granted = before.Grant
	}
	for _, check := range checks {
		key := string(change) + " " + check.Name
		g := groups[key]
		if g == nil {
			g = &ReplayGroup{Change: change, Check: check.Name, principals: map[string]bool{}}
			groups[key] = g
		}
		g.add(ReplayExample{Request: d.ID, Principal: r.Principal.ID, Team: granted.Ownership.Team, Profile: granted.Profile, At: d.At, Message: check.Message})
	}
	return nil
}

func (g *ReplayGroup) add(one ReplayExample) {
	g.Requests++
	g.principals[one.Principal] = true
	g.People = len(g.principals)
	if !slices.Contains(g.Teams, one.Team) {
		g.Teams = append(g.Teams, one.Team)
	}
	if !slices.Contains(g.Profiles, one.Profile) {
		g.Profiles = append(g.Profiles, one.Profile)
	}
	if len(g.Examples) < mostExamples {
		g.Examples = append(g.Examples, one)
	}
}

func sortGroups(groups map[string]*ReplayGroup) (out []ReplayGroup) {
	for _, g := range groups {
		slices.Sort(g.Teams)
		slices.Sort(g.Profiles)
		out = append(out, *g)
	}
	slices.SortFunc(out, func(a, b ReplayGroup) int {
		return cmp.Or(cmp.Compare(slices.Index(policy.Changes, a.Change), slices.Index(policy.Changes, b.Change)), cmp.Compare(b.Requests, a.Requests), cmp.Compare(a.Check, b.Check))
	})
	return out
}

// CheckCatalogue is the check run on a pull request that changes the catalogue's files. It names teams and profiles, and no people: the
// repository may be public. Without replays, it says only what is wrong with the files: whoever may write rules could ask with them what
// others did.
func (s *Service) CheckCatalogue(ctx context.Context, files map[string]string, replays bool) (chatops.CheckRun, error) {
	check := chatops.CatalogueChange{Replayed: replays}
	var out Replay
	var err error
	if replays {
		out, err = s.replay(ctx, files)
	} else {
		_, out.Problems, err = s.loadFiles(files)
	}
	var refused *app.Error
	if errors.As(err, &refused) { // a path that is none
		out.Problems, err = append(out.Problems, profiles.Problem{Got: refused.Message}), nil
	}
	if err != nil {
		return chatops.CheckRun{}, err
	}
	for _, problem := range out.Problems {
		check.Problems = append(check.Problems, chatops.Annotation{Path: s.home.PathOf(problem.File), Line: problem.Line, Level: "failure", Title: problem.Field, Message: problemText(problem)})
	}
	out.fillChange(&check)
	return check.Run(), nil
}

// Headline says in one line what changes.
func (r Replay) Headline() string {
	var change chatops.CatalogueChange
	r.fillChange(&change)
	return change.Headline()
}

func (r Replay) fillChange(into *chatops.CatalogueChange) {
	into.Requests, into.More, into.Uncounted, into.Roles, into.Days = r.Requests, r.More, r.Uncounted, r.Roles, int(ReplaySpan.Hours()/24)
	into.Refused, into.Approval, into.Accepted, into.Free = r.Counts[policy.NowRefused], r.Counts[policy.NowApproval], r.Counts[policy.NowAccepted], r.Counts[policy.NowFree]
	for _, a := range r.Removed {
		into.Removed = append(into.Removed, a.Name)
	}
	for _, g := range r.Groups {
		into.Groups = append(into.Groups, chatops.CatalogueGroup{Change: string(g.Change), Check: g.Check, Requests: g.Requests, People: g.People, Teams: g.Teams, Profiles: g.Profiles})
	}
}

func problemText(p profiles.Problem) string {
	if p.Accept == "" {
		return p.Got
	}
	return p.Got + "; accepted: " + p.Accept
}
