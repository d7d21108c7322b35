package story

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// fork: nothing runs for a fork's code before somebody of the team agreed to that very commit.
func (t *teller) fork(ctx context.Context) error {
	return all(
		func() error {
			return t.step("maya labels the fork's #45", func() error { return t.act(ctx, forked, "label", url.Values{"text": {label}}) })
		},
		func() error {
			return t.step("its cluster waits for a person's word", t.inPhase(ctx, forked, "awaiting_approval", 10*time.Second))
		},
		func() error {
			return t.step("it is told why, and what to type", func() error {
				return until(ctx, 10*time.Second, func() error {
					list, err := t.comments(ctx, forked)
					if err != nil {
						return err
					}
					return contains(strings.Join(list, "\n"), "comes from a fork", "/ocp approve")
				})
			})
		},
		func() error {
			return t.step("a push makes what was asked for void, and asks anew", func() error {
				if err := t.approvals(ctx, "pending"); err != nil {
					return err
				}
				if err := t.act(ctx, forked, "push", nil); err != nil {
					return err
				}
				return t.approvals(ctx, "pending", "void")
			})
		},
		func() error {
			return t.step("nothing of it runs yet", t.inPhase(ctx, forked, "awaiting_approval", 0))
		},
		func() error {
			return t.step("maya says /ocp approve and it begins", func() error {
				if err := t.comment(ctx, forked, "/ocp approve"); err != nil {
					return err
				}
				return t.inPhase(ctx, forked, "installing", 20*time.Second)()
			})
		},
		func() error {
			return t.step("/ocp destroy takes it down", func() error {
				if err := t.comment(ctx, forked, "/ocp destroy"); err != nil {
					return err
				}
				return t.reaches(ctx, forked, "DESTROYED", 90*time.Second)()
			})
		},
	)
}

// approvals waits until the states of what was asked for the fork's cluster are these, newest first.
func (t *teller) approvals(ctx context.Context, want ...string) error {
	c, err := t.newest(ctx, forked)
	if err != nil {
		return err
	}
	return until(ctx, 10*time.Second, func() error {
		raw, status, err := t.fetch(ctx, t.at.Private+"/api/v1/approvals?cluster="+c.ClusterID, t.at.Requester)
		if err != nil {
			return err
		}
		if status != http.StatusOK {
			return fmt.Errorf("GET /api/v1/approvals: %d %s", status, raw)
		}
		var page struct{ Items []struct{ State string } }
		if err := json.Unmarshal(raw, &page); err != nil {
			return err
		}
		var states []string
		for _, a := range page.Items {
			states = append(states, a.State)
		}
		if !slices.Equal(states, want) {
			return fmt.Errorf("they are %v instead of %v", states, want)
		}
		return nil
	})
}
