// Package slack is a stand-in for Slack: a workspace with people, channels and the app of ocpctl. It sends slash commands, events and
// interactions as Slack does, over signed HTTP requests or Socket Mode, and implements the Web API methods that ocpctl calls. Its
// functions do what people do in Slack's client; package play shows the same as a page.
//
// It must never be more lenient than Slack: every call needs the right token and scope, messages and forms must be valid Block Kit,
// responses and error codes are Slack's, and a request without a response within three seconds fails. In one respect it is stricter:
// a message with blocks needs a text too, because screen readers read it.
package slack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/ocpctl/ocpctl/devstack/file"
	"github.com/ocpctl/ocpctl/devstack/listen"
	"github.com/ocpctl/ocpctl/devstack/must"
)

// Workspace is the workspace's id, and Org that of the Enterprise Grid organization of which some people are members.
const (
	Workspace = "T0DEMOACME"
	Org       = "E0DEMOCORP"
)

// The app's ids.
const (
	Bot   = "U0DEMOBOTT" // its user
	App   = "A0DEMOOCPC"
	botID = "B0DEMOOCPC"
)

// Config says where the stand-in listens, how it reaches the app, and the shared secrets.
type Config struct {
	Addr          string                     // empty: a free port on the loopback
	CommandURL    string                     // URL for slash commands, events and interactions
	SigningSecret string                     // signs these requests
	Token         string                     // the bot's
	AppToken      string                     // for Socket Mode; empty: DefaultAppToken
	Socket        bool                       // Socket Mode: everything is sent over WebSockets, and nothing to CommandURL
	Limits        bool                       // Slack's rate limits apply
	StatePath     string                     // JSON file; empty: no state is stored
	Patience      time.Duration              // how long the app may take to respond; zero: 3 s, as in Slack
	Retries       []time.Duration            // pauses before an event is sent again; nil: as in Slack
	Pages         func(*Server) http.Handler // the pages under /playground; nil: none
	Beside        string                     // URL of the pull requests that a page shows beside Slack; empty: there is no such page
	Now           func() time.Time           // nil: time.Now
}

// DefaultAppToken is the app-level token of a Config without one.
const DefaultAppToken = "demo-slack-app-token"

// answerWithin is how long Slack waits for a response, and pauses when it sends an event again.
// https://docs.slack.dev/interactivity/implementing-slash-commands, https://docs.slack.dev/apis/events-api
const answerWithin = 3 * time.Second

var pauses = []time.Duration{0, time.Minute, 5 * time.Minute}

func (c Config) withDefaults() Config {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Addr == "" {
		c.Addr = "127.0.0.1:0"
	}
	if c.AppToken == "" {
		c.AppToken = DefaultAppToken
	}
	if c.Patience == 0 {
		c.Patience = answerWithin
	}
	if c.Retries == nil {
		c.Retries = pauses
	}
	return c
}

// Server is a running stand-in.
type Server struct {
	cfg   Config
	base  string
	stop  func() error
	ctx   context.Context // ends with Stop; what is sent in the background lives as long
	tasks sync.WaitGroup  // what is sent in the background

	mu       sync.Mutex // guards everything below
	world    world
	faults   map[string][]Fault
	limiters limiters
	triggers map[string]*trigger
	hooks    map[string]*hook // by the response_url's path
	tickets  map[string]time.Time
	sockets  []*socket
	sent     []Sent
}

// Start listens and serves until Stop. It continues with the state in StatePath.
func Start(ctx context.Context, cfg Config) (_ *Server, err error) {
	defer must.Catch(&err)
	s := &Server{
		cfg: cfg.withDefaults(), faults: map[string][]Fault{}, limiters: limiters{}, triggers: map[string]*trigger{}, hooks: map[string]*hook{},
		tickets: map[string]time.Time{},
	}
	must.Do(s.load())
	listener := must.Get(listen.On(ctx, s.cfg.Addr, "the stand-in Slack"))
	background, end := context.WithCancel(context.WithoutCancel(ctx))
	s.ctx, s.base = background, "http://"+listener.Addr().String()
	closeServer := listen.Serve(context.WithoutCancel(ctx), listener, s.handler(), "the stand-in Slack")
	s.stop = sync.OnceValue(func() error {
		end()
		s.hangUp()
		err := closeServer()
		s.tasks.Wait()
		return err
	})
	return s, nil
}

// Stop stops the server, and waits for what it sends in the background.
func (s *Server) Stop() error { return s.stop() }

// URL is the page's URL, without a final slash.
func (s *Server) URL() string { return s.base }

// Beside is the URL of the pull requests that a page shows beside Slack; empty: there is none.
func (s *Server) Beside() string { return s.cfg.Beside }

// API is the base URL of the Web API's methods.
func (s *Server) API() string { return s.base + "/api/" }

func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /api/{method}", s.serveAPI)
	mux.HandleFunc("GET /api/{method}", s.serveAPI)
	mux.HandleFunc("GET /link/", s.serveSocket)
	mux.HandleFunc("POST /hooks/{key...}", s.serveHook)
	s.adminRoutes(mux)
	if s.cfg.Pages != nil {
		pages := s.cfg.Pages(s)
		mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/playground", http.StatusSeeOther) })
		mux.Handle("/playground", pages)
		mux.Handle("/playground/", pages)
	}
	return mux
}

// hangUp ends all connections of Socket Mode.
func (s *Server) hangUp() {
	s.mu.Lock()
	sockets := slices.Clone(s.sockets)
	s.mu.Unlock()
	for _, c := range sockets {
		c.close()
	}
}

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
