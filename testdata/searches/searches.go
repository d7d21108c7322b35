// Package searches looks into texts in each way that the rule must find. A comment marks the lines that it finds.
package searches

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/lifecycle"
)

type answer struct {
	Name, Code                             string
	Message, Next, Note, Text, Title, Hint string
	FailMessage, HoldWhy, Detail, Summary  string
	Trouble                                []string
	remark                                 string
}

func (a answer) Sentence() string { return a.Message }

var ended = regexp.MustCompile("^it ended")

func lookDirectly(a answer, c lifecycle.Card, l contract.Leftover) {
	use(strings.Contains(a.Message, "quota"))                      // found
	use(strings.HasPrefix(c.Why.String(), "nobody"))               // found
	use(strings.HasSuffix(a.Next, "again"))                        // found
	use(strings.Cut(a.Note, "; "))                                 // found
	use(strings.CutSuffix(c.DesiredWhy.String(), " asked for it")) // found
	use(strings.Index(a.Text, "x"))                                // found
	use(strings.EqualFold(a.Title, "Failed"))                      // found
	use(strings.TrimPrefix(a.Detail, a.Code+": "))                 // found
	use(strings.Split(a.HoldWhy, "; "))                            // found
	use(strings.ReplaceAll(a.Hint, "workers", "nodes"))            // found
	use(strings.Contains("all of it", a.FailMessage))              // found
	use(strings.Count(l.Remark, "vpc"))                            // found
	use(strings.Contains(a.remark, "x"))                           // found
	use(strings.Contains(a.Sentence(), "x"))                       // found
	use(strings.Contains(a.Trouble[0], "x"))                       // found
	use(bytes.Contains([]byte(a.Summary), []byte("x")))            // found
	use(strings.Contains(strings.ToLower(a.Message), "x"))         // found
	use(strings.Contains(fmt.Sprint(a.Code, a.Message), "x"))      // found
	use(strings.Contains((&a).Message+a.Name, "x"))                // found
	use(regexp.MatchString("^the", a.Message))                     // found
	use(ended.MatchString(a.Message))                              // found
	use(ended.FindStringSubmatch(a.HoldWhy))                       // found
	use(ended.ReplaceAllString(a.Next, ""))                        // found
	use(a.Message == "the quota is full")                          // found
	switch a.Note {                                                // found
	case "it was given back":
	}
}

func lookAfterwards(a answer) {
	said := a.Message
	use(strings.Contains(said, "quota")) // found
	for _, line := range a.Trouble {
		use(strings.HasPrefix(line, "vpc")) // found
	}
	hand(a.Next)
}

// hand passes a text on.
func hand(step string) { takeStep(step) }

func takeStep(step string) (string, bool) {
	command, _, found := strings.Cut(step, ": ocpctl ") // found
	use(strings.ReplaceAll(step, "`", "'"))             // a function that writes texts of any kind
	use(strings.IndexByte(step, '`'))
	return command, found
}

func askStore() {
	use("WHERE desired_why LIKE 'nobody%'")                // found
	use("WHERE c.fail_message ILIKE '%x%'")                // found
	use("WHERE note ~ '^x'")                               // found
	use("WHERE metadata ->> 'why' LIKE 'x%'")              // found
	use("WHERE starts_with(c.stuck_next, 'nobody')")       // found
	use("SELECT position('x' in t.words)")                 // found
	use("SELECT strpos(trouble, 'x')")                     // found
	use("SELECT split_part(message, ';', 1)")              // found
	use("WHERE regexp_like(a.detail, 'x')")                // found
	use("WHERE desired_why ->> 'code' = 'idle'")           // a code
	use("SELECT why, next FROM c WHERE name LIKE 'x%'")    // another column
	use("UPDATE clusters SET desired_why = @why, note=''") // it is written
}

func writeTexts(a answer, c lifecycle.Card) {
	use(c.DesiredWhy.Code == lifecycle.ReasonIdle)
	use(a.Message == "", a.Next != a.Note, a.Code == "QuotaFull")
	use(strings.TrimSuffix(a.Message, "."), strings.TrimSpace(a.Next), strings.HasSuffix(a.Title, "."))
	use(strings.Split(a.Text, "\n"), strings.ReplaceAll(a.Text, "`", "'"))
	use(strings.Contains(a.Name, "x"), strings.HasPrefix(a.Code, "Quota"))
}

func use(...any) {}
