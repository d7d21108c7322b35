// Package filter reads the filters by which people choose clusters from a list: one grammar for the pages, the command line, Slack and the
// API. It knows the words and what each accepts; the store turns a Query into SQL. A filter grants nothing: it only narrows the list that
// somebody may see anyway.
//
// A filter is words between blanks. key:value is a condition, and key:a,b holds for either value. A status alone is a condition, too. Any
// other word is looked for in names. Quotes keep a word together and make it a plain one; a dash before a word excludes what it selects.
package filter

import (
	"slices"
	"strings"
	"time"
)

// Key names what a condition is about.
type Key string

// The keys. Word is what has none: it is looked for in all names.
const (
	Word     Key = ""
	Owner    Key = "owner"
	Status   Key = "status"
	Team     Key = "team"
	Profile  Key = "profile"
	Platform Key = "platform"
	Region   Key = "region"
	Version  Key = "version"
	Repo     Key = "repo"
	Pull     Key = "pr"
	Source   Key = "source"
	Name     Key = "name"
	Run      Key = "run"
	Ends     Key = "ends"
	Created  Key = "created"
	Ended    Key = "ended"
	Sort     Key = "sort"
)

// Keys are the keys that people may type, those that are asked for most first.
var Keys = []Key{Owner, Status, Team, Profile, Ends, Repo, Version, Source, Created, Ended, Name, Pull, Platform, Region, Run, Sort}

// Statuses are what status: accepts. failed includes an install that failed and was cleaned up; gone is destroyed; live is not gone.
var Statuses = []string{"pending", "creating", "ready", "destroying", "destroyed", "failed", "asleep", "blocked", "degraded", "live", "gone"}

// Sources are what source: accepts.
var Sources = []string{"label", "comment", "api", "web", "slack", "environment", "queue"}

// Orders are what sort: accepts; the first is used if nothing is said.
var Orders = []string{"newest", "oldest", "ends", "name", "owner", "price"}

// platforms are what platform: accepts, by each name for them.
var platforms = map[string]string{"aws": "aws", "ibm": "ibmcloud", "ibmcloud": "ibmcloud", "kubernetes": "kubernetes"}

// Query is a filter that was understood.
type Query struct {
	Terms []Term
	Order string // one of Orders; empty: the first
}

// Term is one condition: it holds for one of the values or, with Not, for none.
type Term struct {
	Key    Key
	Not    bool
	Values []Value
}

// Value is one value of a condition.
type Value struct {
	Is        string    // as the store has it
	Principal string    // of an owner: whose clusters these are; Is is their name then. Empty: it is all that is known
	From, To  time.Time // of a time: from the first until before the second; zero: no bound
}

// Reader is who reads a list, and when.
type Reader struct {
	Principal, Name string
	Now             time.Time
}

// Mine is the query for what somebody owns.
func Mine(who Reader) Query {
	return Query{}.With(Owner, Value{Is: who.Name, Principal: who.Principal})
}

// NotMine is the query for what others own.
func NotMine(who Reader) Query {
	q := Mine(who)
	for i := range q.Terms {
		q.Terms[i].Not = true
	}
	return q
}

// With returns the query with one more condition; without a value that says something it is as before.
func (q Query) With(key Key, values ...Value) Query {
	values = slices.DeleteFunc(values, func(v Value) bool { return v == Value{} })
	if len(values) > 0 {
		q.Terms = append(slices.Clone(q.Terms), Term{Key: key, Values: values})
	}
	return q
}

// WithText is With for a value that is a text; an empty one adds nothing.
func (q Query) WithText(key Key, text string) Query { return q.With(key, Value{Is: text}) }

// NamesState reports whether the query itself says whether clusters live: a list then shows more than what lives.
func (q Query) NamesState() bool {
	return slices.ContainsFunc(q.Terms, func(t Term) bool { return (t.Key == Status || t.Key == Ended) && !t.Not })
}

// Set returns the text of a filter with a condition in place of all that it had of the same key; an empty value only removes these.
func Set(text string, key Key, value string) string {
	var kept []string
	for _, w := range split(text) {
		if w.key() != string(key) {
			kept = append(kept, w.typed)
		}
	}
	if value != "" {
		kept = append(kept, Format(key, value))
	}
	return strings.Join(kept, " ")
}

// Format writes a condition as it is typed.
func Format(key Key, value string) string {
	if strings.ContainsAny(value, " ,\t\"") {
		value = `"` + strings.ReplaceAll(value, `"`, "") + `"`
	}
	return string(key) + ":" + value
}

// Get returns the value that a filter's text has for a key; empty: none, or several.
func Get(text string, key Key) (value string) {
	for _, w := range split(text) {
		if w.key() == string(key) {
			if value != "" || w.not || len(w.values()) != 1 {
				return ""
			}
			value = w.values()[0]
		}
	}
	return value
}
