package store

import (
	"encoding/json"
	"time"

	"github.com/ocpctl/ocpctl/lifecycle"
)

// Scope says for whom a wish is counted. Its parts are locked while the wish is judged; what is not among them counts as zero.
type Scope struct {
	Person, Team, Repo string // principal id, team's name, owner/name
	Everywhere         bool   // the whole installation too: something that judges asks for it
}

// Counts is what one person, team, repository or everybody holds.
type Counts struct {
	Live           int     // accepted and not released, but for those that wait for their turn
	Creating       int     // of these, still wanted and neither ready nor awaiting approval
	Waiting        int     // for their turn
	NodeHours      float64 // of this calendar month (UTC) so far, and to come until the wanted ones end
	SpentCents     int64   // this month so far, by list prices
	CommittedCents int64   // what the wanted ones will cost until they end
}

// Usage is what was counted at one moment.
type Usage struct {
	Person, Team, Repository, Everywhere Counts

	Identities []string  // of the person, all counted together; GitHub logins and SAML names in lower case
	At         time.Time // on the database's clock
}

// Once makes a request one that may be sent again.
type Once struct {
	Key     string        // as the client chose it, unique per principal
	Request string        // SHA-256 of method, path and body, lower-case hex
	Keep    time.Duration // how long its answer is kept; zero: a day
}

// Answer is what a request was answered with.
type Answer struct {
	Status  int // 200 to 499
	Headers map[string]string
	Body    []byte // holds no secret
}

// Ask is a wish before it is judged, and for whom it counts.
type Ask struct {
	Scope     Scope
	Principal string // id, e.g. "github:maya"
	Door      string
	Request   json.RawMessage // the wish as asked
	Key       string          // what made it, e.g. a pull request's label and generation; unique per principal; empty: nothing that comes twice
	Once      *Once           // nil: not a request that may be sent again
}

// Judgement is the answer to a wish: exactly one of them.
type Judgement struct {
	Accept *Acceptance
	Refuse *Refusal
}

// Acceptance is everything that is written for a granted wish.
type Acceptance struct {
	Row      Row               // ID, JobID, AcceptedAt, DestroyAt and the heart's part are filled in
	MaxTTL   time.Duration     // the most the cluster may live, from its acceptance
	UserTags map[string]string // the user's own, checked; Row.Tags are the effective ones
	Verdict  json.RawMessage   // policy's answer, kept as it is
	Addons   []Addon           // what it gets beside OpenShift, in this order
	Reply    *Reply            // an answer to post beside; nil: none
	Effects  []Effect          // what to change on GitHub beside
	Approval *ApprovalAsk      // what has to be approved before anything runs; nil: nothing
	Turn     *TurnAsk          // what it waits for, or is bound by once it is approved; nil: it begins at once
}

// ApprovalAsk is what has to be approved.
type ApprovalAsk struct {
	ID    string        // apr_…; empty: a new one
	Why   []string      // what made it necessary, in words
	Needs int           // persons: 1 or 2; the one who asked is not among them
	Self  bool          // unless one is enough and this says so
	By    string        // their role: "requester" (of the team) or "platform_admin"
	For   time.Duration // then it counts as refused
	Asked string        // SHA-256 of what is approved, lower-case hex
	Head  string        // of the pull request; empty: of none
	At    time.Time     // by GitHub's clock, it was asked for no later than this; zero: GitHub tells no time for it
}

// TurnAsk gives a cluster its place among those that wait for full quotas.
type TurnAsk struct {
	Limits []lifecycle.Limit // every limit that applies, full or not
	Weight int               // the team's share of turns
	Words  string            // which limit is full; empty: none is, but what waits for approval may find one full later
	Place  int               // the place until the next pass over all who wait; at least 1
}

// Refusal is a wish that policy refused, and the answer to post.
type Refusal struct {
	Verdict json.RawMessage // policy's answer, kept as it is
	Failed  json.RawMessage // the checks that failed, for the audit trail
	Reply   *Reply          // nil: none
	Effects []Effect        // what to change on GitHub beside
}

// Judged is what became of a wish.
type Judged struct {
	Row      Row     // the cluster; empty when it was refused, and where Answer is replayed
	Request  string  // id of the kept wish; empty when the answer is an earlier one
	Refused  bool    // meaningless where Answer is replayed
	Answer   *Answer // what to answer; nil for doors without Once
	Replayed bool    // this was judged before, and the earlier result is what is returned
}
