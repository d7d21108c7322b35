package store

import (
	"encoding/json"
	"time"

	"github.com/ocpctl/ocpctl/lifecycle"
)

// Scope says whose usage a request counts toward. Its parts are locked while the request is judged; empty parts count as zero.
type Scope struct {
	Person, Team, Repo string // principal id, team's name, owner/name
	Everywhere         bool   // the whole installation too, if a rule needs that
}

// Counts is the usage of one person, team or repository, or of the whole installation.
type Counts struct {
	Live           int     // accepted and not released, except those in the queue
	Creating       int     // of these, still wanted and neither ready nor awaiting approval
	Waiting        int     // in the queue, for their turn
	NodeHours      float64 // of this calendar month (UTC) so far, and those to come until the wanted clusters end
	SpentCents     int64   // of this month so far, by list prices
	CommittedCents int64   // what the wanted clusters will cost until they end
}

// Usage is the usage counted at one moment.
type Usage struct {
	Person, Team, Repository, Everywhere Counts

	Identities []string  // of the person, all counted together; GitHub logins and SAML names in lower case
	At         time.Time // on the database's clock
}

// Once identifies an HTTP request that may be sent again.
type Once struct {
	Key     string        // as the client chose it, unique per principal
	Request string        // SHA-256 of method, path and body, lower-case hex
	Keep    time.Duration // how long its answer is kept; zero: a day
}

// Answer is the response to a request.
type Answer struct {
	Status  int // 200 to 499
	Headers map[string]string
	Body    []byte // holds no secret
}

// Ask is a request for a cluster before it is judged, and whose usage it counts toward.
type Ask struct {
	Scope     Scope
	Principal string // id, e.g. "github:maya"
	Source    string
	Request   json.RawMessage // the request as made
	Key       string          // its cause, e.g. a pull request's label and generation; unique per principal; empty: it cannot come twice
	Once      *Once           // nil: the request cannot be sent again
}

// Judgement is the decision on a request, and everything that is written for it.
type Judgement struct {
	Allowed bool            // accepted; false: refused, and the fields from Row on are empty
	Verdict json.RawMessage // policy's answer, kept as it is
	Failed  json.RawMessage // of a refusal: the checks that failed, for the audit trail
	Reply   *Reply          // to post as well; nil: none
	Effects []Effect        // further changes on GitHub

	Row      Row               // the cluster; ID, JobID, AcceptedAt, DestroyAt and the lifecycle's fields are filled in
	MaxTTL   time.Duration     // the most the cluster may live, from its acceptance
	UserTags map[string]string // the user's own, checked; Row.Tags are the effective ones
	Addons   []Addon           // in addition to OpenShift, in this order
	Approval *ApprovalAsk      // what has to be approved before anything runs; nil: nothing
	Turn     *TurnAsk          // what it waits for, or is bound by once it is approved; nil: it starts at once
}

// isWhole reports whether a judgement has a verdict, and a cluster if and only if it is accepted.
func (j Judgement) isWhole() bool {
	return len(j.Verdict) > 0 && j.Allowed == (j.Row.Name != "")
}

// ApprovalAsk is what has to be approved.
type ApprovalAsk struct {
	ID    string        // apr_…; empty: a new one
	Why   []string      // what made it necessary, as text
	Needs int           // number of people: 1 or 2, without the requester
	Self  bool          // the requester may approve, if one is enough
	By    string        // their role: "requester" (of the team) or "platform_admin"
	For   time.Duration // after that it counts as refused
	Asked string        // SHA-256 of what is approved, lower-case hex
	Head  string        // of the pull request; empty: of none
	At    time.Time     // requested no later than this, by GitHub's clock; zero: GitHub gives no time for it
}

// TurnAsk puts a cluster into the queue for full quotas.
type TurnAsk struct {
	Limits []lifecycle.Limit // every limit that applies, full or not
	Weight int               // the team's share of turns
	Words  string            // which limit is full; empty: none is, but one may be once the approval comes
	Place  int               // the position until the next pass over the queue; at least 1
}

// Judged is the result of a request: the judgement, and what the store made of it.
type Judged struct {
	Judgement                    // Row is the cluster as written; of an earlier result, only Row and Allowed are set
	Request   string             // id of the stored request; empty if the result is an earlier one
	Answer    *Answer            // the response; nil for entry points without Once; of an earlier one, nothing else is set
	Replayed  bool               // this was judged before; the result is the earlier one
	Forecast  lifecycle.Forecast // of a rehearsal; empty if it was refused
}
