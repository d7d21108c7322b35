package aws

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"io/fs"
	"os"
	"slices"

	"github.com/ocpctl/ocpctl/internal/devstack/file"
)

// store is the state file. A writer holds its mutex, which is in Server.
type store struct {
	file  *os.File // open for appending; nil: the next write is a snapshot
	saved int64    // the world's Changed that is in the file
	long  int      // bytes appended since the snapshot
	limit int      // maximum before the next snapshot
	over  bool     // the server has stopped: another process may use the file
}

// load reads the state file, or creates a new world with the base domain's public zone.
func (s *Server) load() error {
	w := &world{Account: s.cfg.Account, Pinned: map[string]bool{}, Limits: map[string]int{}}
	w.settle, w.tombstone, w.now = s.cfg.Settle, s.cfg.Tombstone, s.cfg.Now
	s.world = w
	if s.cfg.StatePath == "" {
		w.furnish(s.cfg.Zone)
		return nil
	}
	w.journal.seed, w.journal.touched = maphash.MakeSeed(), map[*Resource]bool{}
	raw, err := os.ReadFile(s.cfg.StatePath)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		w.furnish(s.cfg.Zone)
	case err != nil:
		return fmt.Errorf("read the aws stand-in's state: %w", err)
	default:
		lines := json.NewDecoder(bytes.NewReader(raw))
		err := lines.Decode(w)
		if err == nil {
			err = w.replay(lines)
		}
		if err != nil {
			return fmt.Errorf("read the aws stand-in's state %s: %w", s.cfg.StatePath, err)
		}
	}
	return s.save(true) // an incomplete last line is removed before new lines are added
}

// furnish puts into a new world what an account in use has: the base domain's public zone, and the role that AWS creates with the
// first load balancer.
func (w *world) furnish(zone string) {
	z := w.zone(zone+".", "standing", "", false)
	z.Stands = true
	for _, r := range w.all(func(r *Resource) bool { return r.Parent == z.ID }) {
		r.Stands = true
	}
	const balancers = "AWSServiceRoleForElasticLoadBalancing"
	w.add(Resource{
		Service: "iam", Type: role.typ, ID: role.typ + "/" + balancers, Name: balancers, Stands: true,
		Attrs: map[string]string{"path": "/aws-service-role/elasticloadbalancing.amazonaws.com/", "uniqueId": newUpper(role.prefix, 17)},
	})
}

// save writes changes to the state file, unless they are there already. The next writer also writes the changes of callers that wait
// meanwhile. A snapshot replaces changes that have become longer than it.
func (s *Server) save(snapshot bool) error {
	if s.cfg.StatePath == "" {
		return nil
	}
	s.mu.Lock()
	mine := s.world.Changed
	s.mu.Unlock()
	s.saving.Lock()
	defer s.saving.Unlock()
	if s.store.over {
		return errors.New("the aws stand-in has stopped")
	}
	if !snapshot && s.store.saved >= mine {
		return nil
	}
	var err error
	if snapshot || s.store.file == nil || s.store.long > s.store.limit {
		err = s.snapshot()
	} else {
		err = s.write()
	}
	if err != nil {
		s.store.close() // so the next write is a snapshot
		return fmt.Errorf("write the aws stand-in's state: %w", err)
	}
	return nil
}

// last is the save of a server that stops. A call in progress is neither answered nor written.
func (s *Server) last() error {
	err := s.save(true)
	s.saving.Lock()
	defer s.saving.Unlock()
	s.store.close()
	s.store.over = true
	return err
}

func (t *store) close() {
	if t.file != nil {
		_ = t.file.Close() // every write was checked, or a snapshot follows
	}
	t.file = nil
}

// write appends the pending lines.
func (s *Server) write() error {
	s.mu.Lock()
	now, lines := s.world.Changed, bytes.Clone(s.world.journal.lines.Bytes())
	s.world.journal.lines.Reset()
	s.mu.Unlock()
	if _, err := s.store.file.Write(lines); err != nil {
		return err
	}
	s.store.saved, s.store.long = now, s.store.long+len(lines)
	return nil
}

// leastJournal prevents a small world from being written completely all the time.
const leastJournal = 1 << 20

// snapshot replaces the file with the whole world.
func (s *Server) snapshot() error {
	s.mu.Lock()
	now := s.world.Changed
	raw, err := s.world.whole()
	s.mu.Unlock()
	if err != nil {
		return err
	}
	s.store.close()
	if err := file.Replace(s.cfg.StatePath, raw); err != nil {
		return err
	}
	s.store.file, err = os.OpenFile(s.cfg.StatePath, os.O_APPEND|os.O_WRONLY, 0)
	s.store.saved, s.store.long, s.store.limit = now, 0, max(leastJournal, 2*len(raw))
	return err
}

// whole returns the snapshot, after which the journal begins anew.
func (w *world) whole() ([]byte, error) {
	raw, err := json.Marshal(w)
	if err != nil {
		return nil, err
	}
	for _, r := range slices.Concat(w.Resources, w.Dead) {
		if _, r.saved, err = w.encode(r); err != nil {
			return nil, err
		}
	}
	clear(w.journal.touched)
	w.journal.lines.Reset()
	w.journal.used, w.journal.meta = nil, nil
	return append(raw, '\n'), nil
}
