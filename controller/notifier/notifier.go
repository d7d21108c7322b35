// Package notifier tells people in Slack what happened: it finds out who hears of an announcement, writes a notice for each place, and
// posts the notices.
//
// It must never decide what happens to a cluster, and it posts nothing that has no row: each place hears of each thing once, whatever
// is lost or done twice on the way. Who hears of what is decided in hear, from values alone.
package notifier

import (
	"context"
	"log/slog"
	"time"

	"github.com/riverqueue/river"

	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/chatops/slack"
	"github.com/ocpctl/ocpctl/store"
)

// Slack is the client of Slack, slack.Client.
type Slack interface {
	// Identity returns who the bot is.
	Identity(ctx context.Context) (slack.Identity, error)
	// Channel returns a channel. slack.ErrChannel: the bot sees none. slack.ErrRefused: it may not look.
	Channel(ctx context.Context, id string) (slack.Channel, error)
	// OpenDirect returns the channel of the direct messages with a person. slack.ErrNever: there can be none.
	OpenDirect(ctx context.Context, person string) (channel string, err error)
	// Post posts a message that Find finds by its marker.
	Post(ctx context.Context, to slack.Place, m slack.Message, marker string) (ts int64, err error)
	// Update replaces a message. slack.ErrGone: it was deleted.
	Update(ctx context.Context, channel string, ts int64, m slack.Message) error
	// Find looks for a message by its marker.
	Find(ctx context.Context, in slack.Place, marker string, since time.Time) (ts int64, found bool, err error)
}

// Config is the notifier's configuration.
type Config struct {
	Store        *store.Store
	Slack        Slack   // nil: there is no Slack, and nobody hears of anything
	Workspace    string  // the bot's; empty: Slack is asked
	AdminChannel string  // id of the channel that hears what an admin must see; empty: none
	Weekly       *Weekly // nil: there is no weekly report
	Links        chatops.Links
	Log          *slog.Logger
}

// Notifier executes the jobs of this package. It is safe for concurrent use.
type Notifier struct {
	Config
	bots workspace
}

// New returns a notifier.
func New(c Config) *Notifier { return &Notifier{Config: c, bots: workspace{id: c.Workspace}} }

// Register adds the notifier's workers to the bundle of the River client.
func (n *Notifier) Register(w *river.Workers) {
	river.AddWorker(w, &announceWorker{n: n})
	river.AddWorker(w, &noticeWorker{n: n})
	river.AddWorker(w, &weeklyWorker{n: n})
}

// tooOld is the age at which nobody is told of something any more that they were not told of.
const tooOld = 24 * time.Hour
