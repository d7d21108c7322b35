package filter

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/ocpctl/ocpctl/internal/closest"
	"github.com/ocpctl/ocpctl/internal/duration"
)

// The largest filter that is read.
const (
	MaxLength = 500 // bytes
	maxTerms  = 20
	maxValues = 20
)

// Problem is a part of a filter that is not understood.
type Problem struct {
	Part   string   // as typed
	Detail string   // what is wrong with it
	Near   string   // what was probably meant, as it is typed; empty: unknown
	Accept []string // what would be accepted
}

// Text is the problem as people read it.
func (p Problem) Text() string {
	if p.Near != "" {
		return p.Detail + " Did you mean " + p.Near + "?"
	}
	return p.Detail
}

// Parse reads a filter for somebody. With problems, the query holds what was understood, and must not be used for a list.
func Parse(text string, who Reader) (q Query, problems []Problem) {
	if len(text) > MaxLength {
		return q, []Problem{{Part: text[:20] + "…", Detail: fmt.Sprintf("The filter has %d bytes and may have up to %d.", len(text), MaxLength)}}
	}
	words := split(text)
	if len(words) > maxTerms {
		return q, []Problem{{Part: words[maxTerms].typed, Detail: fmt.Sprintf("The filter has %d conditions and may have up to %d.", len(words), maxTerms)}}
	}
	for _, w := range words {
		if problem := q.add(w, who); problem != nil {
			problem.Part = w.typed
			problems = append(problems, *problem)
		}
	}
	return q, problems
}

// add adds the condition that a word stands for.
func (q *Query) add(w word, who Reader) *Problem {
	key, values := Key(w.key()), w.values()
	switch {
	case key == Word:
		q.addWord(w)
		return nil
	case !slices.Contains(Keys, key):
		return unknownKey(w)
	case len(values) == 0:
		return &Problem{Detail: fmt.Sprintf("%s: needs a value.", key), Accept: examples(key)}
	case len(values) > maxValues:
		return &Problem{Detail: fmt.Sprintf("%s: has %d values and may have up to %d.", key, len(values), maxValues)}
	case key == Sort:
		return q.setOrder(w, values)
	}
	term := Term{Key: key, Not: w.not}
	for _, text := range values {
		value, problem := readValue(key, text, who)
		if problem != nil {
			return problem
		}
		term.Values = append(term.Values, value)
	}
	q.Terms = append(q.Terms, term)
	return nil
}

// addWord adds what is looked for in names.
func (q *Query) addWord(w word) {
	if text := strings.ToLower(w.text); text != "" {
		q.Terms = append(q.Terms, Term{Key: Word, Not: w.not, Values: []Value{{Is: text}}})
	}
}

func (q *Query) setOrder(w word, values []string) *Problem {
	if !slices.Contains(Orders, values[0]) || len(values) > 1 || w.not {
		return unknownValue(Sort, values[0], Orders)
	}
	q.Order = values[0]
	return nil
}

// readValue reads a value of a key that has values of its own.
func readValue(key Key, text string, who Reader) (Value, *Problem) {
	low := strings.ToLower(text)
	switch key {
	case Owner:
		return readOwner(text, who), nil
	case Status:
		return oneOf(key, low, Statuses)
	case Source:
		return oneOf(key, low, Sources)
	case Platform:
		if name, known := platforms[low]; known {
			return Value{Is: name}, nil
		}
		return Value{}, unknownValue(key, text, []string{"aws", "ibmcloud", "kubernetes"})
	case Pull:
		text = strings.TrimPrefix(text, "#")
		if n, err := strconv.ParseInt(text, 10, 32); err != nil || n <= 0 {
			return Value{}, &Problem{Detail: fmt.Sprintf("pr: takes the number of a pull request, but %q is not one.", text), Accept: examples(Pull)}
		}
		return Value{Is: text}, nil
	case Ends, Created, Ended:
		return readTime(key, low, who.Now)
	case Team, Profile, Region, Repo, Name:
		return Value{Is: low}, nil
	}
	return Value{Is: text}, nil
}

// readOwner reads whose clusters are meant: me, a name with or without @, or a principal such as slack:T1/U2.
func readOwner(text string, who Reader) Value {
	name := strings.TrimPrefix(text, "@")
	switch {
	case strings.EqualFold(name, "me"):
		return Value{Is: who.Name, Principal: who.Principal}
	case strings.Contains(name, ":"):
		return Value{Principal: name}
	}
	return Value{Is: name}
}

func oneOf(key Key, text string, accepted []string) (Value, *Problem) {
	if !slices.Contains(accepted, text) {
		return Value{}, unknownValue(key, text, accepted)
	}
	return Value{Is: text}, nil
}

func unknownKey(w word) *Problem {
	names := make([]string, len(Keys))
	for i, k := range Keys {
		names[i] = string(k) + ":"
	}
	p := &Problem{Detail: fmt.Sprintf("There is no filter %s:.", w.key()), Accept: names}
	if near, ok := closest.Match(w.key()+":", names); ok {
		p.Near = near + w.rest()
	}
	return p
}

func unknownValue(key Key, text string, accepted []string) *Problem {
	p := &Problem{Detail: fmt.Sprintf("%s: does not take %q.", key, text)}
	for _, value := range accepted {
		p.Accept = append(p.Accept, Format(key, value))
	}
	if near, ok := closest.Match(text, accepted); ok {
		p.Near = Format(key, near)
	}
	return p
}

// ValuesOf returns all values of a key that has a few, or examples of them.
func ValuesOf(key Key) []string {
	return map[Key][]string{
		Owner: {"me", "maya"}, Status: Statuses, Source: Sources, Sort: Orders, Platform: {"aws", "ibmcloud", "kubernetes"}, Pull: {"41"},
		Ends: timeExamples, Created: timeExamples, Ended: timeExamples, Repo: {"acme/shop", "shop"}, Version: {"4.20", "4.20.3"},
	}[key]
}

// examples are values that a key accepts.
func examples(key Key) []string {
	values := ValuesOf(key)
	out := make([]string, len(values))
	for i, value := range values {
		out[i] = Format(key, value)
	}
	return out
}

var timeExamples = []string{"<2h", ">3d", "today", "yesterday", "tomorrow", "2026-11-28"}

// readTime reads a time: closer than a duration (<2h, or 2h), farther than one (>2h), or a day, in UTC. What ends lies ahead, and what
// was created or has ended lies behind.
func readTime(key Key, text string, now time.Time) (Value, *Problem) {
	wrong := &Problem{Detail: fmt.Sprintf("%s: takes a time, but %q is not one.", key, text), Accept: examples(key)}
	now = now.UTC()
	today := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, time.UTC)
	if days, named := map[string]int{"yesterday": -1, "today": 0, "tomorrow": 1}[text]; named {
		return Value{From: today.AddDate(0, 0, days), To: today.AddDate(0, 0, days+1)}, nil
	}
	if day, err := time.Parse(time.DateOnly, text); err == nil {
		return Value{From: day, To: day.AddDate(0, 0, 1)}, nil
	}
	far := strings.HasPrefix(text, ">")
	span, ok := duration.Parse(strings.TrimLeft(text, "<>="))
	if !ok || span < 0 || span > maxSpan {
		return Value{}, wrong
	}
	switch at := now.Add(span); {
	case key == Ends && far:
		return Value{From: at}, nil
	case key == Ends:
		return Value{To: at}, nil
	case far:
		return Value{To: now.Add(-span)}, nil
	}
	return Value{From: now.Add(-span)}, nil
}

// maxSpan is the longest duration that is read: ten years.
const maxSpan = 10 * 366 * 24 * time.Hour

// word is a word of a filter.
type word struct {
	typed  string // with dash and quotes
	text   string // without
	colon  int    // where in text the key ends; -1: it has none
	quoted bool   // it begins with a quote
	commas []int  // where in text the values are separated
	not    bool
}

// key is what the word is about. A status, mine and an address say it themselves.
func (w word) key() string {
	text := strings.ToLower(w.text)
	switch {
	case w.colon >= 0:
		return strings.ToLower(w.text[:w.colon])
	case w.quoted:
		return string(Word)
	case text == "mine":
		return string(Owner)
	case slices.Contains(Statuses, text):
		return string(Status)
	case strings.HasPrefix(text, "https://") || strings.HasPrefix(text, "http://"):
		return string(Run)
	}
	return string(Word)
}

// rest is what stands after the colon, as typed.
func (w word) rest() string {
	_, rest, _ := strings.Cut(w.typed, ":")
	return rest
}

// values are the values after the colon that say something.
func (w word) values() (out []string) {
	if w.colon < 0 && strings.EqualFold(w.text, "mine") {
		return []string{"me"}
	}
	begin := w.colon + 1
	for _, end := range append(slices.Clone(w.commas), len(w.text)) {
		if text := strings.TrimSpace(w.text[begin:end]); text != "" {
			out = append(out, text)
		}
		begin = end + 1
	}
	return out
}

// split splits a filter into words at blanks outside of quotes. A quote that is not closed reaches to the end.
func split(text string) (words []word) {
	for text = strings.TrimLeftFunc(text, unicode.IsSpace); text != ""; text = strings.TrimLeftFunc(text, unicode.IsSpace) {
		w, length := readWord(text)
		words, text = append(words, w), text[length:]
	}
	return words
}

func readWord(text string) (w word, length int) {
	w.colon = -1
	var plain strings.Builder
	inside := false
	for i, r := range text {
		if !inside && unicode.IsSpace(r) {
			length = i
			break
		}
		length = i + len(string(r))
		switch {
		case r == '"' || r == '“' || r == '”':
			w.quoted = w.quoted || plain.Len() == 0 && w.colon < 0
			inside = !inside
			continue
		case inside:
		case r == '-' && plain.Len() == 0 && !w.not && !w.quoted:
			w.not = true
			continue
		case r == ':' && w.colon < 0 && plain.Len() > 0 && !w.quoted && !strings.HasPrefix(text[i:], "://"):
			w.colon = plain.Len()
		case r == ',' && w.colon >= 0:
			w.commas = append(w.commas, plain.Len())
		}
		plain.WriteRune(r)
	}
	if w.typed, w.text = text[:length], plain.String(); inside {
		w.typed += `"`
	}
	return w, length
}
