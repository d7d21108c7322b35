package storetest

import (
	"fmt"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/usage"
)

// AtMost grants the acceptance as long as its team has fewer live clusters, with those that wait counted too. Beyond that it
// is refused, or waits for its turn.
func AtMost(most int, wait bool, a store.Judgement) func(usage.Usage) (store.Judgement, error) {
	limit := lifecycle.Limit{Quota: "teams", Scope: lifecycle.ScopeTeam, Key: a.Row.Team, What: lifecycle.CountLive, Most: most}
	return func(u usage.Usage) (store.Judgement, error) {
		a := a // a request may be judged twice
		switch full := u.Team.Live+u.Team.Waiting >= most; {
		case full && !wait:
			return Refusal("the quota is full"), nil
		case full:
			a.Turn = &store.TurnAsk{Limits: []lifecycle.Limit{limit}, Words: limit.Text(), Position: 1 + u.Team.Waiting}
		}
		return a, nil
	}
}

func Refusal(words string) store.Judgement {
	said := fmt.Appendf(nil, `[{"name":"quota","result":"fail","words":%q}]`, words)
	return store.Judgement{Verdict: fmt.Appendf(nil, `{"allowed":false,"checks":%s}`, said), Failed: said}
}

func RequestedBy(a store.Judgement, person string) store.Judgement {
	a.Row.RequestedBy = person
	return a
}
