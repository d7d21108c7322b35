package store

import (
	"encoding/json"
	"time"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/access"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/pools"
	"github.com/ocpctl/ocpctl/store/runs"
	"github.com/ocpctl/ocpctl/store/usage"
)

// Once identifies a request that may be sent again, and then has the same result.
type Once struct {
	Key     string        // as the client chose it, unique per principal
	Request string        // SHA-256 of its content, lowercase hex
	Keep    time.Duration // how long it is kept; zero: a day
}

// Ask is a request for a cluster before it is judged, and whose usage it counts toward.
type Ask struct {
	Scope     usage.Scope
	Principal string // id, e.g. "github:maya"
	Source    string
	Request   json.RawMessage // the request as made
	Key       string          // its cause, e.g. a pull request's label and generation; unique per principal; empty: it cannot come twice
	Once      *Once           // nil: the request cannot be sent again
	RetryOf   string          // id of the cluster that failed or ended, in whose place this one is requested; empty: in no cluster's
	RetryOnce bool            // if a cluster was requested in its place before, that one is the result
	Pull      *PullAsk        // the pull request whose cluster is wanted rather than a new one; nil: none
	Run       *runs.Ask       // the run that the cluster is to end with; nil: none
	Asker     *runs.Ref       // the run that asks for a cluster that does not end with it; nil: none, or it does
	Signal    *runs.SignalAsk // the run that is told when the cluster is ready or failed; nil: none
	Wait      *runs.WaitAsk   // the jobs that wait for the cluster; nil: none
	Claims    bool            // it may be served from a pool

	patient bool // it is judged again while every cluster that it could claim is being changed
}

// PullAsk asks for the cluster that a pull request has of a profile. Scope names its repository too.
type PullAsk struct {
	Repo    string
	Number  int
	Profile string
	Reuse   func(clusters.Row) error // judges whether the requester gets it; its error is returned
}

// Judgement is the decision on a request, and everything that is written for it.
type Judgement struct {
	Allowed bool                               // accepted; false: refused, and the fields from Row on are empty
	Verdict json.RawMessage                    // policy's answer, kept as it is
	Usage   json.RawMessage                    // what policy counted with, kept as it is
	Checks  []JudgedCheck                      // of the verdict, those that are counted; each name and part once
	Failed  json.RawMessage                    // of a refusal: the checks that failed, for the audit trail
	Refusal string                             // of a refusal: what the jobs that wait are told; empty: none wait
	Reply   *clusters.Reply                    // to post as well; nil: none
	Answer  func(clusters.Row) *clusters.Reply // makes Reply for a cluster that was claimed, which has a name of its own; nil: Reply names none
	Effects []clusters.Effect                  // further changes on GitHub

	Row       clusters.Row                                                    // the cluster; ID, JobID, AcceptedAt, DestroyAt and the lifecycle's fields are filled in
	MaxTTL    time.Duration                                                   // the most the cluster may live, from its acceptance
	UserTags  map[string]string                                               // the user's own, checked; Row.Tags are the effective ones
	Weight    int                                                             // the team's share of what clusters wait for: turns and runners; 0 counts as 1
	Addons    []clusters.Addon                                                // in addition to OpenShift, in this order
	AddonsOf  func(name, baseDomain, region string) ([]clusters.Addon, error) // the same for a waiting cluster, which has values of its own
	Access    *access.Ask                                                     // what its requester gets with it; nil: nothing
	Budget    []usage.Threshold                                               // parts of the team's budget that are reached with it
	Approval  *ApprovalAsk                                                    // what has to be approved before anything runs; nil: nothing
	Show      *clusters.SlackPlace                                            // where in Slack it is shown; nil: nowhere
	Pools     []pools.Candidate                                               // from which it may be served at once, the best first; nil: it is made anew
	Accounts  []string                                                        // the catalogue's names of the cloud accounts in which such a cluster may be, "" for the installation's own; nil: only that
	AnyDomain bool                                                            // such a cluster may have another base domain
	Regions   []string                                                        // in which such a cluster may be besides the row's
	Advice    string                                                          // for such a cluster in place of Row.Spec.Advice
	Turn      *TurnAsk                                                        // what it waits for, or is bound by once it is approved; nil: it starts at once

	ClaimOnly bool // every account is full: it is served from a pool, or refused with ErrNoAccount

	Claimed bool // set by the store: it was served from a pool
}

// JudgedCheck is a check of a verdict that did not simply pass, or a rule that filled something in.
type JudgedCheck struct {
	Name   string
	Part   string // the rule, quota or tag; empty: the check has no parts
	Result string
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
	Asked string        // SHA-256 of what is approved, lowercase hex
	Head  string        // of the pull request; empty: of none
	At    time.Time     // requested no later than this, by GitHub's clock; zero: GitHub gives no time for it
}

// TurnAsk puts a cluster into the queue for full quotas.
type TurnAsk struct {
	Limits   []lifecycle.Limit // every limit that applies, full or not
	Words    string            // which limit is full; empty: none is, but one may be once the approval comes
	Position int               // the position until the next pass over the queue; at least 1
}

// Judged is the result of a request: the judgement, and what the store made of it.
type Judged struct {
	Judgement                    // Row is the cluster as written; of an earlier result, Row as it is now, and only Allowed, Verdict, Approval.ID and Turn's place are set
	Request   string             // id of the stored request; empty if nothing was judged
	Replayed  bool               // this was judged before; the result is the earlier one
	Reused    bool               // Row is a cluster that the run or its pull request had, and nothing was judged
	Forecast  lifecycle.Forecast // of a rehearsal; empty if it was refused
}
