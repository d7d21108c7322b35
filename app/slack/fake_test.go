package slack_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	api "github.com/slack-go/slack"

	"github.com/ocpctl/ocpctl/chatops/slack"
)

// workspace answers for Slack. It is strict: whom and what it does not know, it refuses as Slack does, and a trigger opens one form.
type workspace struct {
	mu       sync.Mutex
	people   map[string]slack.Person
	groups   map[string][]string
	channels map[string]slack.Channel
	absent   map[string][]string // by channel, who is not in it
	triggers map[string]bool     // those that still open a form
	forms    []api.ModalViewRequest
	homes    map[string]int
	down     bool
	limit    int // how often it says what it knows of a channel, before that is too often; 0: always
	asked    int // how often it was asked that
}

var errDown = errors.New("no answer from Slack")

func newWorkspace() *workspace {
	w := &workspace{
		people: map[string]slack.Person{}, absent: map[string][]string{}, groups: map[string][]string{}, triggers: map[string]bool{}, homes: map[string]int{},
		channels: map[string]slack.Channel{"C1": {ID: "C1", Name: "clusters", Member: true}, "C2": {ID: "C2", Name: "random"}},
	}
	for _, id := range []string{"UMATE", "UADMIN", "UPAY", "UBOSS", "UPAYBOSS", "UAUDIT", "ULINK", "UNOBODY", "UROB", "UFINANCE", "UWILL", "UANY"} {
		w.people[id] = slack.Person{ID: id, Workspace: "T1", Name: strings.ToLower(id[1:])}
	}
	w.people["UBOT"] = slack.Person{ID: "UBOT", Workspace: "T1", Name: "bot", Bot: true}
	w.people["ULEFT"] = slack.Person{ID: "ULEFT", Workspace: "T1", Name: "left", Deactivated: true}
	w.people["UGUEST"] = slack.Person{ID: "UGUEST", Workspace: "T1", Name: "guest", Guest: true}
	w.people["UOTHER"] = slack.Person{ID: "UOTHER", Workspace: "T9", Name: "other", Stranger: true}
	return w
}

func (w *workspace) lock() func() {
	w.mu.Lock()
	return w.mu.Unlock
}

func (w *workspace) Person(_ context.Context, id string) (slack.Person, error) {
	defer w.lock()()
	p, known := w.people[id]
	if !known {
		return p, fmt.Errorf("%w (user_not_found)", slack.ErrNever)
	}
	return p, w.answers()
}

func (w *workspace) GroupMembers(_ context.Context, group string) ([]string, error) {
	defer w.lock()()
	members, known := w.groups[group]
	if !known {
		return nil, fmt.Errorf("%w (no_such_subteam)", slack.ErrGone)
	}
	return members, w.answers()
}

func (w *workspace) Channel(_ context.Context, id string) (slack.Channel, error) {
	defer w.lock()()
	if w.asked++; w.limit > 0 && w.asked > w.limit {
		return slack.Channel{}, slack.RateLimited{RetryAfter: time.Minute}
	}
	c, known := w.channels[id]
	if !known {
		return c, fmt.Errorf("%w (channel_not_found)", slack.ErrChannel)
	}
	return c, w.answers()
}

func (w *workspace) InChannel(_ context.Context, channel, person string) (bool, error) {
	defer w.lock()()
	return !slices.Contains(w.absent[channel], person), w.answers()
}

func (w *workspace) OpenDirect(_ context.Context, person string) (string, error) {
	defer w.lock()()
	if _, known := w.people[person]; !known {
		return "", fmt.Errorf("%w (user_not_found)", slack.ErrNever)
	}
	return "D" + person, w.answers()
}

func (w *workspace) OpenForm(_ context.Context, trigger string, form api.ModalViewRequest) (string, error) {
	defer w.lock()()
	if !w.triggers[trigger] {
		return "", fmt.Errorf("%w (expired_trigger_id)", slack.ErrExpired)
	}
	delete(w.triggers, trigger)
	w.forms = append(w.forms, form)
	return fmt.Sprintf("V%d", len(w.forms)), w.answers()
}

func (w *workspace) ReplaceWindow(_ context.Context, external string, form api.ModalViewRequest) error {
	defer w.lock()()
	for i := range w.forms {
		if w.forms[i].ExternalID == external {
			form.ExternalID = external
			w.forms[i] = form
			return w.answers()
		}
	}
	return fmt.Errorf("%w (not_found)", slack.ErrGone)
}

func (w *workspace) UpdateForm(context.Context, string, string, api.ModalViewRequest) error {
	return w.answers()
}

func (w *workspace) ShowHome(_ context.Context, person string, _ api.HomeTabViewRequest) error {
	defer w.lock()()
	w.homes[person]++
	return w.answers()
}

func (w *workspace) answers() error {
	if w.down {
		return errDown
	}
	return nil
}

func (h *fixture) contains(text, part string) bool { return strings.Contains(text, part) }
