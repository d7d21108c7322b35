package notifier

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// workspaceAgain is how long the notifier waits after Slack did not say which workspace the bot is in.
const workspaceAgain = time.Minute

// workspace is the bot's workspace, which Slack is asked for once.
type workspace struct {
	mu     sync.Mutex
	id     string
	failed time.Time // when Slack last did not say it
	err    error
}

// workspaceOf returns the workspace. It asks Slack at most once a minute, so that a revoked token causes no storm of questions.
func (w *workspace) workspaceOf(ctx context.Context, slack Slack, now time.Time) (string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.id != "" {
		return w.id, nil
	}
	if w.err != nil && now.Sub(w.failed) < workspaceAgain {
		return "", later{workspaceAgain}
	}
	bot, err := slack.Identity(ctx)
	if err != nil {
		w.failed, w.err = now, err
		return "", fmt.Errorf("find out which workspace the bot is in: %w", err)
	}
	w.id, w.err = bot.Workspace, nil
	return w.id, nil
}
