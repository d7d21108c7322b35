package lifecycle

import (
	"cmp"
	"strings"
	"time"
)

// Reason is why something is as it is: a code, what it is about, and what a person or a program wrote, apart. The zero value says that there
// is none. Code decides by the code and never looks into words; String makes the sentence where it is shown. The database keeps it as JSON.
type Reason struct {
	Code  ReasonCode `json:"code,omitempty"`
	Words string     `json:"words,omitempty"` // as somebody wrote them, or as a runner reported them
	By    string     `json:"by,omitempty"`    // who, as people know them
	Via   string     `json:"via,omitempty"`   // how they asked, e.g. "in a comment"
	Name  string     `json:"name,omitempty"`  // what it is about: a repository, a pull request, a commit, what finished
	To    string     `json:"to,omitempty"`    // what became of it, or where it went
	At    time.Time  `json:"at,omitzero"`
	Where Place      `json:"where,omitzero"` // where it applies

	Seen       bool `json:"seen,omitempty"`       // polling found it, and no event reported it
	Held       bool `json:"held,omitempty"`       // a hold postponed what follows from it
	Unobserved bool `json:"unobserved,omitempty"` // nobody could look inside the cluster right before
}

// ReasonCode says which reason it is.
type ReasonCode string

const (
	ReasonOther    ReasonCode = "other"    // only Words are known
	ReasonAsked    ReasonCode = "asked"    // By asked for it, in their Words or Via some way
	ReasonApproved ReasonCode = "approved" // By
	ReasonRefused  ReasonCode = "refused"  // By, with Words

	ReasonTTL           ReasonCode = "ttl"
	ReasonMaximum       ReasonCode = "maximum"
	ReasonPRClosed      ReasonCode = "pr_closed"
	ReasonPRMerged      ReasonCode = "pr_merged"
	ReasonPRDraft       ReasonCode = "pr_draft"
	ReasonPRUnreachable ReasonCode = "pr_unreachable"        // Name
	ReasonRepoArchived  ReasonCode = "repository_archived"   // Name
	ReasonRepoDeleted   ReasonCode = "repository_deleted"    // Name
	ReasonRepoMoved     ReasonCode = "repository_moved"      // To: where the App is not installed
	ReasonRepoNameTaken ReasonCode = "repository_name_taken" // another repository has its name now
	ReasonAppRemoved    ReasonCode = "app_removed"           // from Name
	ReasonAppSuspended  ReasonCode = "app_suspended"         // on Name
	ReasonLabelRemoved  ReasonCode = "label_removed"
	ReasonRunFinished   ReasonCode = "run_finished" // Name: what finished; To: its conclusion, as its platform names it
	ReasonNotTakenOver  ReasonCode = "run_not_taken_over"
	ReasonClaim         ReasonCode = "claim"
	ReasonPool          ReasonCode = "pool" // Name: the pool; To: why it gives the cluster up
	ReasonIdle          ReasonCode = "idle"
	ReasonDrain         ReasonCode = "drain"          // By drains Where, with Words; Name: the freeze
	ReasonNotApproved   ReasonCode = "not_approved"   // by At
	ReasonInstallFailed ReasonCode = "install_failed" // Words: how
	ReasonPushed        ReasonCode = "pushed"         // Name: the commit; To: what the repository's file wants of a push
)

// What finished, for ReasonRunFinished.
const (
	finishedPipelineRun = "pipeline_run"
	finishedJob         = "job"
)

// Noted is a reason of which only words are known; zero without words.
func Noted(words string) Reason {
	if words == "" {
		return Reason{}
	}
	return Reason{Code: ReasonOther, Words: words}
}

// IsUnworded reports that the reason says who did something and how, and that nobody gave words for it.
func (r Reason) IsUnworded() bool {
	return r.Words == "" && (r.Code == ReasonAsked || r.Code == ReasonApproved)
}

// IsZero reports that there is no reason.
func (r Reason) IsZero() bool { return r == Reason{} }

// fixedReasons are the sentences of codes that need no more than themselves.
var fixedReasons = map[ReasonCode]string{
	ReasonTTL:           "the end of its time to live",
	ReasonMaximum:       "the profile's maximum lifetime",
	ReasonPRClosed:      "the pull request was closed",
	ReasonPRMerged:      "the pull request was merged",
	ReasonPRDraft:       "the pull request became a draft",
	ReasonRepoNameTaken: "its repository's name now belongs to another repository",
	ReasonLabelRemoved:  "its label was removed",
	ReasonNotTakenOver:  "its workflow run finished, and no run that its signal started took it over",
	ReasonClaim:         "its claim ended",
	ReasonIdle:          "nobody used it",
}

// String returns the reason as a sentence without a capital and a final stop; empty: there is none. Words stand in it as they are, so whoever
// shows it escapes it.
func (r Reason) String() string {
	text := cmp.Or(fixedReasons[r.Code], r.describeSubject(), r.Words, strings.ReplaceAll(string(r.Code), "_", " "))
	if r.Seen {
		text += ", seen by polling"
	}
	if r.Held {
		text += ", postponed by a hold"
	}
	if r.Unobserved {
		text += "; whether people used its API is unknown, because it could not be asked"
	}
	return text
}

// describeSubject returns the sentence of a code that is about something; empty: the code is none of those.
func (r Reason) describeSubject() string {
	switch r.Code {
	case ReasonAsked:
		switch {
		case r.Words == "":
			return strings.TrimRight(r.By+" asked for it "+r.Via, " ")
		case r.Via != "":
			return r.By + ": " + r.Words
		}
		return r.Words
	case ReasonApproved:
		return "approved by " + r.By
	case ReasonRefused:
		return addWords("refused by "+r.By, r.Words)
	case ReasonPRUnreachable:
		return "the App can no longer access " + r.Name
	case ReasonRepoArchived:
		return r.Name + " was archived"
	case ReasonRepoDeleted:
		return r.Name + " was deleted"
	case ReasonRepoMoved:
		return "the repository moved to " + r.To + ", where the App is not installed"
	case ReasonAppRemoved:
		return "the App was removed from " + r.Name
	case ReasonAppSuspended:
		return "the App was suspended on " + r.Name
	case ReasonRunFinished:
		what := map[string]string{finishedPipelineRun: "its PipelineRun", finishedJob: "its job"}[r.Name]
		return cmp.Or(what, "its workflow run") + " " + describeConclusion(r.To)
	case ReasonNotApproved:
		return "nobody approved it by " + r.At.UTC().Format("15:04 MST on 2 January")
	case ReasonInstallFailed:
		return addWords("the install failed", r.Words)
	case ReasonPool:
		return "the pool " + r.Name + " gives it up: " + r.To
	case ReasonDrain:
		return addWords(strings.TrimSpace(r.By+" is draining the clusters "+r.Where.String()), r.Words)
	case ReasonPushed:
		return r.Name + " was pushed, and the repository's file says " + r.To
	}
	return ""
}

// WithoutFailure is the reason without how the install failed.
func (r Reason) WithoutFailure() Reason {
	if r.Code == ReasonInstallFailed {
		r.Words = ""
	}
	return r
}

// addWords adds words after a colon, if there are any.
func addWords(text, words string) string {
	if words == "" {
		return text
	}
	return text + ": " + words
}
