package chaos

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/devstack/must"
)

// onHub is the platform of clusters that are made on a hub: namespaces. hosted stands for those of it that have a hosted control plane.
const (
	onHub  = "kubernetes"
	hosted = "hypershift"
)

func isOnHub(cloud string) bool { return cloud == onHub || cloud == hosted }

// hubObject finds the pull request, and the kind of the object, in a path on the hub.
var hubObject = regexp.MustCompile(`/namespaces/pr([0-9]+)-shop-[^/]+(?:/(.+))?$`)

// openHub puts a gate behind the hub's changes: each can be held after it was made and before it is answered.
func (t *Run) openHub() {
	t.hub = &gate{count: map[call]int{}}
	t.Hub.Strike(func(method, path string) {
		if c, ok := hubCall(method, path); ok {
			if h := t.hub.meet(c); h != nil {
				_ = h.keep(context.Background()) // until it is released
			}
		}
	})
}

// hubCall names a change on the hub.
func hubCall(method, path string) (call, bool) {
	found := hubObject.FindStringSubmatch(path)
	if found == nil {
		return call{}, false
	}
	pr, err := strconv.Atoi(found[1])
	kind := "namespace"
	if parts := strings.Split(found[2], "/"); parts[0] != "" {
		kind = strings.Join(append(parts[:1], parts[min(2, len(parts)):]...), " ")
	}
	return call{pr: pr, what: method + " " + kind}, err == nil
}

// fromHub makes boundaries of the changes on a hub.
func fromHub(calls []string) (out []boundary) {
	count := map[string]int{}
	for _, what := range calls {
		count[what]++
		job, group := creating, "installing hub"
		if method, kind, _ := strings.Cut(what, " "); method == http.MethodDelete {
			job, group = destroying, "destroying hub"
		} else if kind == "serviceaccounts token" {
			group = "configuring"
		}
		out = append(out, boundary{
			ID: fmt.Sprintf("hub:%s#%d-after", dashed(what), count[what]), Job: job, Group: group, Text: what + describeMoment(true),
			arm: heldCall(func(t *Run) *gate { return t.hub }, what, count[what], true),
		})
	}
	return out
}

func cutHub(ctx context.Context, t *Run) error {
	t.Hub.Away(time.Hour)
	answer, err := t.askHub(ctx)
	if err == nil && answer != http.StatusServiceUnavailable {
		err = fmt.Errorf("the hub answers with %d though it is away", answer)
	}
	return err
}

func mendHub(_ context.Context, t *Run) error { t.Hub.Away(0); return nil }

// askHub returns with which status the hub answers.
func (t *Run) askHub(ctx context.Context) (status int, err error) {
	defer must.Catch(&err)
	roots := x509.NewCertPool()
	must.FailIf(!roots.AppendCertsFromPEM(t.Hub.CA()), "the hub's certificate cannot be read")
	r := must.Get(http.NewRequestWithContext(ctx, http.MethodGet, t.Hub.URL()+"/api/v1/namespaces", nil))
	answer := must.Get((&http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots}}).RoundTrip(r))
	return answer.StatusCode, answer.Body.Close()
}

// hubMishap does to the cycle's cluster what can happen on a hub: it is away for a moment, or something keeps the namespace.
func (t *Run) hubMishap(ctx context.Context, c *cycle) error {
	switch c.fault {
	case "hub away":
		t.Hub.Away(outage)
	case "namespace kept":
		made := func(now cluster) bool { return isReady(now) || now.Desired == "absent" }
		if err := t.awaitNamed(ctx, c.name, "READY", t.patience(), made); err != nil {
			return err
		}
		for _, path := range t.Hub.Left(c.name) {
			if found := hubObject.FindStringSubmatch(path); found == nil || found[2] != "" {
				continue
			}
			t.later.Go(func() { // it may have begun to go by then, or be gone
				_ = sleep(ctx, 4*outage)
				_ = t.Hub.Free(path)
			})
			return t.Hub.Hold(path, "example.com/slow")
		}
	}
	return nil
}
