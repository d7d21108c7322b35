package runner_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/hub"
	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/kinds"
	"github.com/ocpctl/ocpctl/internal/secret"
	"github.com/ocpctl/ocpctl/runner"
	"github.com/ocpctl/ocpctl/runner/cloud"
	"github.com/ocpctl/ocpctl/runner/provision"
)

// hubKind is a kind of cluster that is made on hubs.
type hubKind struct {
	open runner.OpenProvisioner
	text string // what is frozen of its profile
}

// hubKinds are all of them: each keeps what this file says, whatever it makes.
var hubKinds = map[string]hubKind{
	kinds.Namespace:  {openNamespace, ordered},
	kinds.HyperShift: {openHosted, hostedOrdered},
}

// hubScene is a cluster of a kind, on a hub of its own.
type hubScene struct {
	runner.Provisioner
	t      *testing.T
	hub    *hub.Hub
	order  provision.Order
	before []string // what was on the hub
}

func (k hubKind) newScene(t *testing.T) *hubScene {
	t.Helper()
	s := &hubScene{t: t, hub: newHub(t), order: provision.Order{Cluster: "clu_1", Name: "shop", InfraID: "shop-abcde", Text: k.text, Version: "4.20.3", Tags: map[string]string{"Owner": "maya"}}}
	var keys struct{ Server, Token, CA string }
	require.NoError(t, json.Unmarshal([]byte(s.hub.Credentials()), &keys))
	var err error
	s.Provisioner, err = k.open("lab", cloud.Keys{ID: keys.Server, Secret: secret.New(keys.Token), CA: keys.CA})
	require.NoError(t, err)
	s.before = s.hub.Left("")
	return s
}

func (s *hubScene) target() cloud.Target {
	return cloud.Target{Cluster: s.order.Cluster, Name: s.order.Name, Region: "lab", Account: s.hub.UID(), Identities: []contract.Identity{{InfraID: s.order.InfraID}}}
}

func (s *hubScene) create(ctx context.Context) error {
	return s.Create(ctx, s.order, secret.New(pullSecret))
}

// createUntil makes the cluster with a runner that dies after a change; 0: after none. It returns how many changes were made.
func (s *hubScene) createUntil(strike int) (changes int) {
	ctx, die := context.WithCancel(s.t.Context())
	defer die()
	s.hub.Strike(func(string, string) {
		if changes++; changes == strike {
			die()
		}
	})
	err := s.create(ctx)
	s.hub.Strike(nil)
	require.Equal(s.t, strike > 0, err != nil, err)
	return changes
}

const (
	soon  = 10 * time.Second
	often = 5 * time.Millisecond
)

// countMade waits until the operator, if the kind has one, has made the cluster, and returns how much is on the hub then.
func (s *hubScene) countMade() int {
	s.t.Helper()
	if hosted, is := s.Provisioner.(runner.Hosted); is {
		require.Eventually(s.t, func() bool {
			look, err := hosted.Look(s.t.Context(), s.order)
			return err == nil && look.Ready
		}, soon, often)
	}
	return len(s.hub.Left(""))
}

// end has the operator, if the kind has one, remove the cluster.
func (s *hubScene) end() {
	s.t.Helper()
	if hosted, is := s.Provisioner.(runner.Hosted); is {
		require.Eventually(s.t, func() bool {
			left, err := hosted.End(s.t.Context(), s.target())
			return err == nil && len(left) == 0
		}, soon, often)
	}
}

// assertRemoved removes the cluster, and sees that the count says when that is done.
func (s *hubScene) assertRemoved() {
	s.t.Helper()
	s.end()
	_, err := s.Remove(s.t.Context(), s.target())
	require.NoError(s.t, err)
	require.Eventually(s.t, func() bool { return s.Verify(s.t.Context(), s.target()).Clean }, soon, often)
	require.Equal(s.t, s.before, s.hub.Left(""))
}

// eachKind runs a test for each kind.
func eachKind(t *testing.T, test func(*testing.T, hubKind)) {
	for name, kind := range hubKinds {
		t.Run(name, func(t *testing.T) { test(t, kind) })
	}
}

func TestAKindOnAHubIsMadeOnceHoweverOftenItsRunnerDies(t *testing.T) {
	eachKind(t, func(t *testing.T, kind hubKind) {
		whole := kind.newScene(t)
		changes := whole.createUntil(0)
		made := whole.countMade()
		require.Greater(t, made, len(whole.before))
		require.NoError(t, whole.create(t.Context()))
		require.Equal(t, made, whole.countMade(), "made twice is made once")
		for strike := 1; strike < changes; strike++ { // after the last, nothing is left to do
			s := kind.newScene(t)
			s.createUntil(strike)
			require.NoError(t, s.create(t.Context()), "after change %d", strike)
			require.Equal(t, made, s.countMade(), "after change %d", strike)
		}
	})
}

func TestAKindOnAHubIsRemovedHoweverMuchOfItWasMade(t *testing.T) {
	eachKind(t, func(t *testing.T, kind hubKind) {
		whole := kind.newScene(t)
		changes := whole.createUntil(0)
		whole.assertRemoved()
		whole.assertRemoved() // twice is once
		for strike := 1; strike < changes; strike++ {
			s := kind.newScene(t)
			s.createUntil(strike)
			s.assertRemoved()
		}
	})
}

func TestTheCountOfAKindOnAHubNamesWhatARemovalLeft(t *testing.T) {
	eachKind(t, func(t *testing.T, kind hubKind) {
		s := kind.newScene(t)
		s.createUntil(0)
		require.False(t, s.Verify(t.Context(), s.target()).Clean, "it is there")
		own := "/api/v1/namespaces/" + s.order.InfraID
		require.NoError(t, s.hub.Hold(own, "example.com/stays"))
		s.end()
		_, err := s.Remove(t.Context(), s.target())
		require.NoError(t, err)
		require.Eventually(t, func() bool {
			left := s.Verify(t.Context(), s.target()).Leftovers
			return len(left) == 1 && strings.Contains(left[0].Remark, "example.com/stays")
		}, soon, often)
		require.NoError(t, s.hub.Free(own))
		s.assertRemoved()
	})
}

// tries is how often the runner asks a hub that does not answer before it gives up.
const tries = 4

// A hub that is away at any call is nothing that a person has to put right, and no count is clean that could not ask everything.
func TestAHubThatIsAwayAtAnyCallIsAskedAgainLater(t *testing.T) {
	eachKind(t, func(t *testing.T, kind hubKind) {
		for name, work := range map[string]struct {
			arrange func(*hubScene)
			do      func(*hubScene, context.Context) error
		}{
			"create":  {func(*hubScene) {}, (*hubScene).create},
			"access":  {func(s *hubScene) { s.createUntil(0) }, (*hubScene).changeAccess},
			"removal": {func(s *hubScene) { s.createUntil(0); s.end() }, (*hubScene).removeOnce},
			"count":   {func(s *hubScene) { s.createUntil(0); s.assertRemoved() }, (*hubScene).countOnce},
		} {
			first := kind.newScene(t)
			work.arrange(first)
			before := first.hub.Calls()
			require.NoError(t, work.do(first, t.Context()), name)
			var together sync.WaitGroup // each takes as long as the runner's patience
			for call := range first.hub.Calls() - before {
				s := kind.newScene(t)
				work.arrange(s)
				s.hub.Skip(call, tries)
				together.Go(func() {
					err := work.do(s, t.Context())
					assert.ErrorContains(t, err, "503", "%s, call %d", name, call)
					assert.NotErrorIs(t, err, cloud.ErrCredentials, "%s, call %d", name, call)
					assert.NoError(t, work.do(s, t.Context()), "%s, again after call %d", name, call)
				})
			}
			together.Wait()
		}
	})
}

// changeAccess gives somebody access and takes it again.
func (s *hubScene) changeAccess(ctx context.Context) error {
	on, has := s.Provisioner.(runner.Accounts)
	if !has { // they are in the cluster itself
		return nil
	}
	_, err := on.Accounts(ctx, s.order)
	if err == nil {
		_, err = on.Give(ctx, s.order, mayaAdmin.Account, mayaAdmin.Role, time.Hour)
	}
	if err == nil {
		err = on.Take(ctx, s.order, mayaAdmin.Account)
	}
	return err
}

func (s *hubScene) removeOnce(ctx context.Context) error {
	_, err := s.Contested(ctx, s.target())
	if err == nil {
		_, err = s.Remove(ctx, s.target())
	}
	return err
}

// countOnce returns the first question that was not answered, if the count knows that it is not clean.
func (s *hubScene) countOnce(ctx context.Context) error {
	pass := s.Verify(ctx, s.target())
	for _, q := range pass.Queries {
		if q.Err != "" && !pass.Clean {
			return errors.New(q.Err)
		}
	}
	return nil
}

func TestNothingOfAKindOnAHubIsMadeWithoutItsRecord(t *testing.T) {
	for name, kind := range hubKinds {
		t.Run(name, func(t *testing.T) {
			h := newHub(t)
			before := h.Left("")
			w := onHub(t, h, contract.KindCreate)
			w.spec.Provisioner, w.spec.InstallConfig, w.cfg.Provisioners = name, kind.text, map[string]runner.OpenProvisioner{name: kind.open}
			if kinds.Can(name, kinds.OwnAPI) {
				w.toHosted()
			}
			w.reply = func(what string, _ int) int {
				if what == "record" {
					return http.StatusUnprocessableEntity
				}
				return 0
			}
			require.NoError(t, w.run(t.Context()))
			require.Equal(t, "RecordRefused", w.result().Reason, w.result().Message)
			require.Equal(t, before, h.Left(""))
		})
	}
}
