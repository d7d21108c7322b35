package aws

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/ocpctl/ocpctl/internal/house/file"
)

// load reads the state file, or makes a new world with the base domain's public zone in it.
func (s *Server) load() error {
	w := &world{Account: s.cfg.Account, Pinned: map[string]bool{}, Limits: map[string]int{}}
	raw, err := []byte(nil), fs.ErrNotExist
	if s.cfg.StatePath != "" {
		raw, err = os.ReadFile(s.cfg.StatePath)
	}
	w.settle, w.tombstone, w.now = s.cfg.Settle, s.cfg.Tombstone, s.cfg.Now
	s.world = w
	switch {
	case errors.Is(err, fs.ErrNotExist):
		z := w.zone(s.cfg.Zone+".", "standing", "", false)
		z.Stands = true
		for _, r := range w.all(func(r *Resource) bool { return r.Parent == z.ID }) {
			r.Stands = true
		}
		return nil
	case err != nil:
		return fmt.Errorf("read the aws stand-in's state: %w", err)
	}
	if err := json.Unmarshal(raw, w); err != nil {
		return fmt.Errorf("read the aws stand-in's state %s: %w", s.cfg.StatePath, err)
	}
	return nil
}

// save writes the state file unless it already holds the newest change. Callers that come while another writes find
// their change written by whoever writes next.
func (s *Server) save(always bool) error {
	if s.cfg.StatePath == "" {
		return nil
	}
	s.mu.Lock()
	mine := s.world.Changed
	s.mu.Unlock()
	s.saving.Lock()
	defer s.saving.Unlock()
	if !always && s.saved >= mine {
		return nil
	}
	s.mu.Lock()
	now := s.world.Changed
	raw, err := json.Marshal(s.world)
	s.mu.Unlock()
	if err != nil {
		return fmt.Errorf("write the aws stand-in's state: %w", err)
	}
	if err := file.Replace(s.cfg.StatePath, raw); err != nil {
		return fmt.Errorf("write the aws stand-in's state: %w", err)
	}
	s.saved = now
	return nil
}
