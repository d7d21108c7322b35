package chatops

import (
	"fmt"

	"github.com/ocpctl/ocpctl/lifecycle"
)

// LogReply answers logs: the last lines of the newest job's log in a fold, as many as fit into a comment with so many answers, and where the
// rest is.
func LogReply(actor string, card lifecycle.Card, log []string, answers int, links Links) string {
	if len(log) == 0 {
		return fmt.Sprintf("%s, the newest job of %s has no log yet. %s\n", mention(actor), Code(card.Name), page(card, links))
	}
	text := fmt.Sprintf("%s, here are the last lines of the newest log of %s. %s\n", mention(actor), Code(card.Name), page(card, links))
	begin := fmt.Sprintf("\n<details>\n<summary>%s</summary>\n\n", countOf(len(log), "line"))
	return text + begin + tail(log, MaxLogLines, (maxBody-maxRead)/max(answers, 1)-len(text)-len(begin)-len(foldEnd)) + foldEnd
}

// maxSlackLog is how many bytes of a log one message in Slack holds.
const maxSlackLog = 2800

// SlackLog answers logs in Slack: the last lines of the newest job's log, as many as fit, and where the rest is.
func SlackLog(card lifecycle.Card, log []string, links Links) string {
	if len(log) == 0 {
		return fmt.Sprintf("The newest job of %s has no log yet. %s\n", Code(card.Name), page(card, links))
	}
	return fmt.Sprintf("The last lines of the newest log of %s. %s\n\n", Code(card.Name), page(card, links)) + tail(log, MaxLogLines, maxSlackLog)
}
