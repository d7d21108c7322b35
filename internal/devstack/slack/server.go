// Package slack is a stand-in for Slack: one workspace, two channels, four people and the app of ocpctl. It sends signed slash
// commands as Slack does, implements the Web API methods that ocpctl calls, and shows a page on which one can type as each person and
// see the responses.
//
// It must never be more lenient than Slack: every call needs the bot's token and the right scope, responses and error codes are
// Slack's, and a command without a response within three seconds fails. Its page says that it is a stand-in.
package slack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/ocpctl/ocpctl/internal/devstack/file"
)

// Workspace is the workspace's id.
const Workspace = "T0DEMOACME"

// The channels' ids. The bot is only in the first one.
const (
	Clusters = "C0DEMOCLUS"
	Random   = "C0DEMORAND"
)

// Person is a member of the workspace.
type Person struct{ ID, Login, Name string }

// People are those of the demo's identity provider, with their Slack ids.
var People = []Person{
	{"U0DEMOMAYA", "maya", "Maya"}, {"U0DEMOROBB", "rob", "Rob"}, {"U0DEMOWILL", "will", "Will"}, {"U0DEMOADAA", "ada", "Ada"},
}

const botUser = "U0DEMOBOTT"

// By finds a person by login or id.
func By(who string) (Person, bool) {
	i := slices.IndexFunc(People, func(p Person) bool { return p.Login == who || p.ID == who })
	if i < 0 {
		return Person{}, false
	}
	return People[i], true
}

// Config says where the stand-in listens, where it sends commands, and the shared secrets.
type Config struct {
	Addr          string           // empty: a free port on the loopback
	CommandURL    string           // URL for slash commands
	SigningSecret string           // signs the commands
	Token         string           // the bot's
	StatePath     string           // JSON file; empty: no state is stored
	Now           func() time.Time // nil: time.Now
}

// Message is a message, and who sees it.
type Message struct {
	ID      int64
	TS      string // in Slack's form, e.g. 1710000000.000100
	Kind    string // command, ack (the response to a command's request), ephemeral, direct
	Channel string // id
	To      string // id of the person who sees it
	Text    string // in Slack's markup
	At      time.Time
}

// Server is a running stand-in.
type Server struct {
	cfg  Config
	base string
	stop func() error

	mu     sync.Mutex // guards everything below
	said   []Message
	opened map[string]bool // direct conversations, by the channel's id
	stamp  int64           // the newest timestamp, in microseconds
	faults map[string][]Fault
}

// Start listens and serves until Stop. It continues with the state in StatePath.
func Start(ctx context.Context, cfg Config) (*Server, error) {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Addr == "" {
		cfg.Addr = "127.0.0.1:0"
	}
	s := &Server{cfg: cfg, opened: map[string]bool{}, faults: map[string][]Fault{}}
	if err := s.load(); err != nil {
		return nil, err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", cfg.Addr)
	if err != nil {
		return nil, fmt.Errorf("listen for the stand-in Slack: %w", err)
	}
	s.base = "http://" + listener.Addr().String()
	server := &http.Server{Handler: s.handler(), ReadHeaderTimeout: 10 * time.Second}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	s.stop = sync.OnceValue(func() error {
		err := server.Close()
		if served := <-ended; !errors.Is(served, http.ErrServerClosed) {
			err = errors.Join(err, fmt.Errorf("serve the stand-in Slack: %w", served))
		}
		return err
	})
	return s, nil
}

// Stop stops the server.
func (s *Server) Stop() error { return s.stop() }

// URL is the page's URL, without a final slash.
func (s *Server) URL() string { return s.base }

// API is the base URL of the Web API's methods.
func (s *Server) API() string { return s.base + "/api/" }

// Messages returns all messages, oldest first.
func (s *Server) Messages() []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.said)
}

// Seen returns the texts that a person got, oldest first: acknowledgements and answers.
func (s *Server) Seen(who string) (texts []string) {
	p, _ := By(who)
	for _, m := range s.Messages() {
		if m.To == p.ID && m.Kind != "command" {
			texts = append(texts, m.Text)
		}
	}
	return texts
}

// mostSaid is how many messages are kept; the oldest are dropped first.
const mostSaid = 500

// say stores a message and gives it a unique timestamp.
func (s *Server) say(m Message) (Message, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m.At = s.cfg.Now()
	s.stamp = max(s.stamp+1, m.At.UnixMicro())
	m.ID, m.TS = s.stamp, fmt.Sprintf("%d.%06d", s.stamp/1_000_000, s.stamp%1_000_000)
	s.said = append(s.said, m)
	s.said = s.said[max(0, len(s.said)-mostSaid):]
	return m, s.save()
}

// save and load keep the messages across a restart.
func (s *Server) save() error {
	if s.cfg.StatePath == "" {
		return nil
	}
	raw, err := json.MarshalIndent(s.said, "", " ")
	if err != nil {
		return fmt.Errorf("keep the stand-in Slack's state: %w", err)
	}
	return file.Replace(s.cfg.StatePath, raw)
}

func (s *Server) load() error {
	if s.cfg.StatePath == "" {
		return nil
	}
	raw, err := os.ReadFile(s.cfg.StatePath)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(raw, &s.said)
	}
	if err != nil {
		return fmt.Errorf("read the stand-in Slack's state: %w", err)
	}
	for _, m := range s.said {
		s.stamp = max(s.stamp, m.ID)
	}
	return nil
}
