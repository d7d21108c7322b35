package reports

import (
	"context"
	"fmt"

	"github.com/ocpctl/ocpctl/internal/queue"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/db"
)

// SlackFindings returns the channels in which nothing can be written, and the workspaces that refuse the bot, as far as something
// waits to be posted there.
func (s *Store) SlackFindings(ctx context.Context) ([]lifecycle.Finding, error) {
	found, err := db.All[lifecycle.Finding](ctx, s.db.Pool(), `
		SELECT CASE WHEN c.channel = '' THEN 'slack_refused' ELSE 'slack_channel' END AS kind, '' AS cluster,
			'workspace ' || c.workspace || CASE WHEN c.channel = '' THEN '' ELSE ' channel ' || c.channel END AS identity, c.problem_since AS since,
			CASE WHEN c.channel = '' THEN 'Slack refuses the bot in this workspace' ELSE 'the bot cannot write in this channel of Slack' END AS why,
			ARRAY['Slack answers ' || c.problem, w.waiting || ' messages wait'] AS evidence
		FROM slack_channels c, LATERAL (
			SELECT (SELECT count(*) FROM subscribers s WHERE s.workspace = c.workspace AND c.channel IN ('', s.channel) AND s.shown_version < s.wanted_version AND NOT s.muted)
				+ (SELECT count(*) FROM replies r WHERE r.workspace = c.workspace AND c.channel = '' AND r.external_id = 0)
				+ (SELECT count(*) FROM notices n WHERE n.workspace = c.workspace AND c.channel IN ('', n.channel, n.person, n.posted_in)
					AND n.shown_version < n.wanted_version AND n.given_up = '') AS waiting) w
		WHERE c.problem <> '' AND w.waiting > 0 ORDER BY c.problem_since, c.workspace, c.channel LIMIT $1`, queue.MostWorkFindings)
	if err != nil {
		return nil, fmt.Errorf("look for trouble in Slack: %w", err)
	}
	return found, nil
}
