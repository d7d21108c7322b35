package github

import (
	"context"
	"errors"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/devstack/pick"
)

// DeliveryState is the state of a webhook's delivery.
type DeliveryState string

// The states of a delivery.
const (
	Waiting   DeliveryState = "waiting"   // to be sent, or being sent
	Delivered DeliveryState = "delivered" // got a 2xx response
	Failed    DeliveryState = "failed"    // tried once, as GitHub does; only a redelivery tries again
	Held      DeliveryState = "held"      // held by HoldNext
)

// Delivery is one try to deliver one event.
type Delivery struct {
	ID           int64         `json:"id"`
	GUID         string        `json:"guid"` // the same for redeliveries
	Event        string        `json:"event"`
	Action       string        `json:"action"`
	Repo         int64         `json:"repo"`   // the repository's number; 0: none
	Number       int           `json:"number"` // of the pull request; 0: none
	Installation int64         `json:"installation"`
	At           time.Time     `json:"at"`
	State        DeliveryState `json:"state"`
	Redelivery   bool          `json:"redelivery"`
	Status       string        `json:"status"` // GitHub's text
	StatusCode   int           `json:"statusCode"`
	Seconds      float64       `json:"seconds"`
	Answer       string        `json:"answer"` // the beginning of the body
	Payload      []byte        `json:"-"`
}

const (
	logLength    = 1000
	deliveryLife = 3 * 24 * time.Hour // after that GitHub neither shows a delivery nor sends it again
)

// queueDeliveries adds events to the log and the outbox. Called with s.mu held.
func (s *Server) queueDeliveries(events []Event) (err error) {
	defer must.Catch(&err)
	if s.hook.URL == "" {
		return nil
	}
	for _, e := range events {
		if !s.delivers(e) {
			continue
		}
		body := must.Get(Payload(e))
		d := &Delivery{
			ID: s.world.id(), GUID: GUID(), Event: e.Name, Action: e.Action, Repo: e.scene.repo.ID, Number: e.about(),
			Installation: e.scene.installation, At: s.now().UTC(), State: Waiting, Payload: body,
		}
		must.Do(s.log(d))
		s.withFaults(d)
	}
	return nil
}

// permissionFor is the permission without which an App gets no such event.
var permissionFor = map[string]string{
	"check_run": "checks", "check_suite": "checks", "workflow_run": "actions", "workflow_job": "actions", "merge_group": "merge_queues",
	"deployment_protection_rule": "deployments",
}

// delivers reports whether the App gets an event: it is installed there, and is registered for the event. Called with s.mu held.
func (s *Server) delivers(e Event) bool {
	if !slices.Contains(always, e.Name) && !slices.Contains(s.app.Events, e.Name) {
		return false
	}
	if e.leaving {
		return true
	}
	if s.world.Install == nil || s.world.Install.SuspendedAt != nil {
		return false
	}
	needs := permissionFor[e.Name]
	asked := needs == "checks" && (e.Action == "rerequested" || e.Action == "requested_action")
	if needs != "" && s.app.Permissions[needs] == "" || asked && s.app.Permissions[needs] != "write" {
		return false
	}
	return slices.ContainsFunc(s.world.Repos, func(r *repository) bool { return r.ID == e.scene.repo.ID && r.Access })
}

// about returns the number of the pull request with which an event is shown; 0: none.
func (e Event) about() int {
	switch {
	case e.PR.Number != 0:
		return e.PR.Number
	case e.Run.ID != 0:
		return e.Run.Pull
	case len(e.OnHead) > 0:
		return e.OnHead[0].Number
	}
	return 0
}

// log stores a delivery and drops the oldest finished ones. Called with s.mu held.
func (s *Server) log(d *Delivery) error {
	if err := s.disk.keepBody(d); err != nil {
		return err
	}
	s.world.Deliveries = append(s.world.Deliveries, d)
	for over := len(s.world.Deliveries) - logLength; over > 0; over-- {
		i := slices.IndexFunc(s.world.Deliveries, func(d *Delivery) bool { return d.State != Waiting && d.State != Held })
		if i < 0 {
			break
		}
		s.disk.dropBody(s.world.Deliveries[i])
		s.world.Deliveries = slices.Delete(s.world.Deliveries, i, i+1)
	}
	return nil
}

// send puts a delivery into the outbox. Called with s.mu held.
func (s *Server) send(d *Delivery) {
	s.outbox = append(s.outbox, d)
	select {
	case s.mail <- struct{}{}:
	default: // the postman was already notified
	}
}

// resume puts what was not sent before the last stop into the outbox again.
func (s *Server) resume() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range s.world.Deliveries {
		if d.State == Waiting {
			s.send(d)
		}
	}
}

// line identifies deliveries that are sent one after the other.
type line struct {
	repo   int64
	number int
}

// postman sends what is in the outbox: one after the other for a pull request, concurrently for several. It returns when ctx has
// ended and every delivery in progress is finished.
func (s *Server) postman(ctx context.Context) {
	var way sync.WaitGroup
	defer way.Wait()
	last := map[line]chan struct{}{} // closed when the previous delivery is done
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.mail:
		}
		s.mu.Lock()
		bag := s.outbox
		s.outbox = nil
		s.mu.Unlock()
		for _, d := range bag {
			of := line{d.Repo, d.Number}
			before, done := last[of], make(chan struct{})
			last[of] = done
			way.Go(func() {
				defer close(done)
				if before != nil {
					<-before
				}
				s.deliver(ctx, d)
			})
		}
	}
}

// deliver makes the one try. A try interrupted by Stop stays waiting.
func (s *Server) deliver(ctx context.Context, d *Delivery) {
	if ctx.Err() != nil {
		return
	}
	s.mu.Lock()
	hook, start := s.hook, s.now()
	s.mu.Unlock()
	code, answer, err := Post(ctx, hook, d.Event, d.GUID, d.Payload)
	if err != nil && ctx.Err() != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	d.At, d.Seconds, d.StatusCode, d.Answer = start.UTC(), s.now().Sub(start).Seconds(), code, answer
	d.State, d.Status = judge(code, err)
	// If this fails, the log on disk lacks this line; the next change writes it.
	_ = s.disk.save(s.world)
}

// judge returns a try's state and GitHub's text for it.
func judge(code int, err error) (DeliveryState, string) {
	var network net.Error
	switch {
	case errors.As(err, &network) && network.Timeout():
		return Failed, "timed out"
	case err != nil:
		return Failed, "failed to connect to host"
	case code >= 200 && code < 300:
		return Delivered, "OK"
	}
	return Failed, "Invalid HTTP Response: " + itoa(int64(code))
}

// Redeliver tries a delivery again, with the same GUID and body. Nothing else does.
func (s *Server) Redeliver(id int64) error {
	return s.change(func(w *world) ([]Event, error) {
		i := slices.IndexFunc(w.Deliveries, func(d *Delivery) bool { return d.ID == id })
		must.EndIf(i < 0, errNotFound)
		old := w.Deliveries[i]
		must.EndIf(s.now().Sub(old.At) > deliveryLife, errInvalid)
		again := &Delivery{
			ID: w.id(), GUID: old.GUID, Event: old.Event, Action: old.Action, Repo: old.Repo, Number: old.Number,
			Installation: old.Installation, At: s.now().UTC(), State: Waiting, Redelivery: true, Payload: old.Payload,
		}
		must.Do(s.log(again))
		s.send(again)
		return nil, nil
	})
}

// Deliveries returns the log, oldest first.
func (s *Server) Deliveries() []Delivery {
	var out []Delivery
	s.look(func(w *world) {
		out = pick.Map(w.Deliveries, func(d *Delivery) Delivery { return *d })
	})
	return out
}
