package profiles

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/ocpctl/ocpctl/internal/duration"
)

// RepositoryFilePath is where a repository has its file, on the base branch of its pull requests.
const RepositoryFilePath = ".github/ocpctl.yaml"

// The values for drafts, forks and pushes in a repository's file.
const (
	DraftsAllow = "allow"
	DraftsDeny  = "deny" // a draft gets no cluster

	ForksApprove = "approve" // a fork's pull request gets a cluster after a person approved its head
	ForksDeny    = "deny"

	SynchronizeKeep     = "keep"     // a push changes nothing
	SynchronizeRefresh  = "refresh"  // a push applies the add-ons again
	SynchronizeRecreate = "recreate" // a push ends the cluster and requests a new one
)

// What the check of a merge queue's commit tells.
const (
	MergeQueueReuse   = "reuse"   // the result of the pull request
	MergeQueueCluster = "cluster" // that of a cluster of its own
)

// The events for which people can be mentioned.
const (
	MentionReady    = "ready"
	MentionFailed   = "failed"
	MentionExpiring = "expiring"
)

// RepositoryFile holds a repository's settings for its own clusters. They narrow what the catalogue allows and fill in what a request
// leaves out; they never allow what the server does not. A setting that is left out is the zero value.
type RepositoryFile struct {
	Default     string         `json:"defaultProfile,omitempty"`
	Profiles    []string       `json:"profiles,omitempty"` // names or globs (see Fits); empty: all profiles of the catalogue
	TTL         time.Duration  `json:"ttl,omitempty"`      // for requests that name none
	Grace       *time.Duration `json:"grace,omitempty"`    // after the pull request was closed or the label removed; 0: none
	Drafts      string         `json:"drafts,omitempty"`
	Forks       string         `json:"forks,omitempty"`
	Synchronize string         `json:"synchronize,omitempty"`
	MergeQueue  string         `json:"mergeQueue,omitempty"`
	Keep        time.Duration  `json:"keep,omitempty"` // how long the label ocp/keep holds a cluster; zero: up to the profile's maximum
	Addons      []string       `json:"addons,omitempty"`
	OffHours    *bool          `json:"offHours,omitempty"` // whether its clusters sleep outside working hours; nil: as their profile says
	Notify      Notify         `json:"notify,omitzero"`
}

// Notify says what people are notified of.
type Notify struct {
	Mention []string            `json:"mention,omitempty"` // ready, failed, expiring: the owner is mentioned by name
	Slack   map[string][]string `json:"slack,omitempty"`   // channels by id, and the events that they hear of
}

// The bounds of a repository's file. Anybody who can write to the repository can write it.
const (
	mostFileBytes    = 64 << 10
	mostFileDepth    = 4 // notify.slack.C012AB3CD[0] is at the fourth level
	mostFileProblems = 50
	mostFileShown    = 20 // characters of a value: enough to find it, too few to use a token that was pasted there
	mostFileItems    = 50
	mostFileChannels = 10
)

// LoadRepositoryFile parses a repository's file. The error is Problems: everything that is wrong, each with line and column. An empty
// file gives the zero value.
func LoadRepositoryFile(raw []byte) (RepositoryFile, error) {
	f, r := loadRepositoryFile(raw)
	if len(r.problems) > 0 {
		return RepositoryFile{}, r.fewest(1 + bytes.Count(bytes.TrimSuffix(raw, []byte("\n")), []byte("\n")))
	}
	return f, nil
}

// loadRepositoryFile also returns the reader, which knows all positions.
func loadRepositoryFile(raw []byte) (RepositoryFile, *reader) {
	var f RepositoryFile
	r := &reader{file: RepositoryFilePath, lines: map[string]int{}, columns: map[string]int{}, shown: mostFileShown}
	switch {
	case len(raw) > mostFileBytes:
		r.fail(1, "", fmt.Sprintf("%d bytes", len(raw)), fmt.Sprintf("at most %d", mostFileBytes))
	case !utf8.Valid(raw):
		r.fail(1+bytes.Count(raw[:firstInvalid(raw)], []byte("\n")), "", "bytes that are not UTF-8", "UTF-8 text")
	case !holdsContent(raw):
	default:
		if doc := r.document(raw, "mapping"); doc != nil && r.plain(doc, 0) {
			f = readRepositoryFile(r, doc)
		}
		r.placeAlias(raw)
	}
	return f, r
}

// holdsContent reports whether a file holds anything except comments and markers.
func holdsContent(raw []byte) bool {
	for line := range bytes.Lines(raw) {
		if line = bytes.TrimSpace(bytes.TrimPrefix(line, []byte("\ufeff"))); len(line) > 0 && line[0] != '#' && !bytes.Equal(line, []byte("---")) {
			return true
		}
	}
	return false
}

func firstInvalid(raw []byte) int {
	for i := 0; i < len(raw); {
		c, size := utf8.DecodeRune(raw[i:])
		if c == utf8.RuneError && size <= 1 {
			return i
		}
		i += size
	}
	return len(raw)
}

func readRepositoryFile(r *reader, doc *yaml.Node) RepositoryFile {
	var f RepositoryFile
	var version int
	fields := []field{
		only(whole("version", &version, 1, 1), "1, the only version"),
		text("defaultProfile", &f.Default, "a profile's name", nameForm.MatchString),
		r.texts("profiles", &f.Profiles, "a profile's name, or a glob such as aws-*", profileGlob),
		span("ttl", &f.TTL, mostTTLHours*time.Hour),
		graceField(&f.Grace),
		choice("drafts", &f.Drafts, DraftsAllow, DraftsDeny),
		choice("forks", &f.Forks, ForksApprove, ForksDeny),
		choice("synchronize", &f.Synchronize, SynchronizeKeep, SynchronizeRefresh, SynchronizeRecreate),
		choice("mergeQueue", &f.MergeQueue, MergeQueueReuse, MergeQueueCluster),
		span("keep", &f.Keep, mostTTLHours*time.Hour),
		r.texts("addons", &f.Addons, "an add-on's name", nameForm.MatchString),
		offHoursField(&f.OffHours),
		r.inner("notify", optional(oneOf(r, "mention", &f.Notify.Mention, MentionReady, MentionFailed, MentionExpiring)),
			optional(r.channels("slack", &f.Notify.Slack))),
	}
	for i := range fields {
		fields[i].optional = true
	}
	r.object(doc, "", fields...)
	if r.good("defaultProfile", "profiles") && !FitsAny(f.Profiles, f.Default) {
		r.failAt("defaultProfile", fmt.Sprintf("%q, which is not among profiles", f.Default), "a profile that matches one of profiles")
	}
	for path, list := range map[string][]string{"profiles": f.Profiles, "addons": f.Addons} {
		if len(list) > mostFileItems {
			r.failAt(path, fmt.Sprintf("a list of %d", len(list)), fmt.Sprintf("at most %d", mostFileItems))
		}
	}
	return f
}

var profileGlobForm = regexp.MustCompile(`^[a-z*][-a-z0-9*]{0,39}$`)

func profileGlob(s string) bool { return profileGlobForm.MatchString(s) && glob(s) }

// graceField is a duration that may be zero.
func graceField(into **time.Duration) field {
	accept := fmt.Sprintf("a duration such as 30m, from 0s to %gh", mostGrace.Hours())
	return field{name: "grace", accept: accept, read: func(n *yaml.Node, _ string) bool {
		d, ok := duration.Parse(n.Value)
		return scalar(n, "!!str") && ok && d >= 0 && d <= mostGrace && put(into, &d)
	}}
}

// offHoursField is true or false; to leave it out is another thing than false.
func offHoursField(into **bool) field {
	var v bool
	f := boolean("offHours", &v)
	read := f.read
	f.read = func(n *yaml.Node, path string) bool { return read(n, path) && put(into, &v) }
	return f
}

// only is the field with another text for what it accepts.
func only(f field, accept string) field {
	f.accept = accept
	return f
}

// oneOf is a list of values from a fixed set.
func oneOf(r *reader, name string, into *[]string, values ...string) field {
	return r.texts(name, into, "one of "+strings.Join(values, ", "), func(s string) bool { return slices.Contains(values, s) })
}

// channelEvents are the events that a channel in Slack can hear of.
var channelEvents = []string{"ready", "failed", "expiring", "blocked", "destroyed"}

var channelForm = regexp.MustCompile(`^[CG][A-Z0-9]{1,31}$`)

// channels is a mapping of channels in Slack to the events that they hear of.
func (r *reader) channels(name string, into *map[string][]string) field {
	accept := "a mapping of at most " + strconv.Itoa(mostFileChannels) + " ids of channels, such as C012AB3CD, to lists of events"
	return field{name: name, accept: accept, read: func(n *yaml.Node, path string) bool {
		if n.Kind != yaml.MappingNode || len(n.Content) == 0 || len(n.Content) > 2*mostFileChannels {
			return false
		}
		found := map[string][]string{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			key, value := n.Content[i], n.Content[i+1]
			at := join(path, r.key(key))
			var events []string
			list := oneOf(r, key.Value, &events, channelEvents...)
			switch _, again := found[key.Value]; {
			case !scalar(key, "!!str") || !channelForm.MatchString(key.Value):
				r.failOn(key, at, "not a channel's id", "the id of a channel in Slack, such as C012AB3CD; it stands at the end of the channel's details")
			case again:
				r.failOn(key, at, "given twice", "one "+key.Value)
			case !list.read(value, at):
				r.failOn(value, at, r.show(value), list.accept)
			}
			found[key.Value] = events
		}
		*into = found
		return true
	}}
}

// plain refuses YAML features that make a file mean something else than it seems: anchors, aliases, merge keys, tags. false: it is
// nested too deep to go on.
func (r *reader) plain(n *yaml.Node, depth int) bool {
	switch {
	case depth > mostFileDepth:
		r.failOn(n, "", "nested mappings or lists", fmt.Sprintf("at most %d deep", mostFileDepth))
		return false
	case n.Kind == yaml.AliasNode:
		r.failOn(n, "", "an alias", "the value itself")
	case n.Anchor != "":
		r.failOn(n, "", "an anchor", "only the value")
	case n.Tag == "!!merge":
		r.failOn(n, "", "a merge key", "the keys")
	case n.Style&yaml.TaggedStyle != 0:
		r.failOn(n, "", "a tag", "only the value")
	}
	for _, child := range n.Content {
		if !r.plain(child, depth+1) {
			return false
		}
	}
	return true
}

// unknownAnchor is the parser's error for an alias without an anchor. It has no line.
var unknownAnchor = regexp.MustCompile(`^unknown anchor '(.*)' referenced$`)

// placeAlias finds the line of an alias for the parser's error.
func (r *reader) placeAlias(raw []byte) {
	for i, p := range r.problems {
		if name := unknownAnchor.FindStringSubmatch(p.Got); name != nil {
			before, _, _ := bytes.Cut(raw, []byte("*"+name[1]))
			r.problems[i].Line, r.problems[i].Got, r.problems[i].Accept = 1+bytes.Count(before, []byte("\n")), "an alias", "the value itself"
		}
	}
}

// fewest returns the first problems in order, at most one for each position, with line numbers inside the file.
func (r *reader) fewest(lines int) Problems {
	all := slices.CompactFunc(r.sortProblems(), func(a, b Problem) bool { return a.Column > 0 && a.Line == b.Line && a.Column == b.Column })
	for i := range all {
		all[i].Line = min(max(all[i].Line, 1), lines)
	}
	if more := len(all) - mostFileProblems; more > 0 {
		all = append(all[:mostFileProblems], Problem{File: r.file, Line: all[mostFileProblems].Line, Got: fmt.Sprintf("%d more problems", more), Accept: "a file without problems"})
	}
	return all
}
