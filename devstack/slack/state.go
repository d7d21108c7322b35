package slack

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/ocpctl/ocpctl/devstack/file"
)

// world is what a restart keeps.
type world struct {
	People   []Person
	Channels []*Channel
	Messages []*Message
	Modals   []*View          // those that people see, the newest last
	Homes    map[string]*View // by the person's id
	Newest   int64            // the newest timestamp, in microseconds
	Token    string           // why the bot's token is refused; empty: it is not
}

// mostMessages is how many messages are kept; the oldest are dropped first.
const mostMessages = 1000

// stamp returns a new timestamp, in microseconds and in Slack's form, under the lock.
func (s *Server) stamp() (int64, string) {
	s.world.Newest = max(s.world.Newest+1, s.cfg.Now().UnixMicro())
	return s.world.Newest, written(s.world.Newest)
}

// written is a timestamp in Slack's form, e.g. 1710000000.000100.
func written(micros int64) string { return fmt.Sprintf("%d.%06d", micros/1_000_000, micros%1_000_000) }

// save stores the state, under the lock.
func (s *Server) save() error {
	s.world.Messages = s.world.Messages[max(0, len(s.world.Messages)-mostMessages):]
	if s.cfg.StatePath == "" {
		return nil
	}
	raw, err := json.Marshal(s.world)
	if err != nil {
		return fmt.Errorf("keep the stand-in Slack's state: %w", err)
	}
	return file.Replace(s.cfg.StatePath, raw)
}

func (s *Server) load() error {
	s.world = world{People: slices.Clone(People), Channels: channels(), Homes: map[string]*View{}}
	if s.cfg.StatePath == "" {
		return nil
	}
	raw, err := os.ReadFile(s.cfg.StatePath)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(raw, &s.world)
	}
	if err != nil {
		return fmt.Errorf("read the stand-in Slack's state in %s: %w; delete the file to start with an empty workspace", s.cfg.StatePath, err)
	}
	return nil
}
