package chatops

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
)

func TestAGateHasTheWorstResult(t *testing.T) {
	member := func(number int, status lifecycle.Status, phase lifecycle.Phase) GateMember {
		return GateMember{Number: number, Card: &lifecycle.Card{Name: "shop", Profile: "aws", Cluster: lifecycle.Cluster{ID: "clu_1", Status: status, Phase: phase}}}
	}
	ready, waits := member(1, lifecycle.Ready, lifecycle.PhaseReady), member(2, lifecycle.Creating, lifecycle.Installing)
	failed := member(3, lifecycle.Failed, lifecycle.CreateFailed)
	ended := member(4, lifecycle.Ready, lifecycle.Degraded)
	for name, c := range map[string]struct {
		members []GateMember
		want    string
		title   string
		passes  bool
	}{
		"one that is ready":           {[]GateMember{ready}, "completed success", "shop of #1: ready", true},
		"one that is being created":   {[]GateMember{waits}, "queued ", "shop of #2: not ready yet", false},
		"one that failed":             {[]GateMember{failed}, "completed failure", "shop of #3: could not be created", false},
		"one that was ready":          {[]GateMember{ended}, "completed neutral", "shop of #4: ended, or cannot be used now", true},
		"two that pass":               {[]GateMember{ready, ended}, "completed neutral", "2 of 2 pull requests at this commit pass; shop of #4: ended, or cannot be used now", true},
		"one of two waits":            {[]GateMember{ready, waits}, "queued ", "1 of 2 pull requests at this commit pass; shop of #2: not ready yet", false},
		"a failure counts most":       {[]GateMember{failed, waits, ready}, "completed failure", "1 of 3 pull requests at this commit pass; shop of #3: could not be created", false},
		"one without a cluster waits": {[]GateMember{ready, {Number: 9}}, "queued ", "1 of 2 pull requests at this commit pass; #9 has no cluster of this profile", false},
		"nobody is there":             {nil, "completed cancelled", "No open pull request is at this commit", false},
	} {
		t.Run(name, func(t *testing.T) {
			run := Gate("aws", c.members, Links{UI: "https://ocpctl.example.com"})
			require.Equal(t, []any{c.want, c.title}, []any{run.Status + " " + run.Conclusion, run.Title})
			require.Equal(t, c.passes, GatePasses(c.members))
			for _, m := range c.members {
				if m.Card != nil {
					require.Contains(t, run.Summary, "https://ocpctl.example.com/clusters/clu_1", "it says which cluster is meant")
				}
			}
			require.Empty(t, run.Actions)
		})
	}
}
