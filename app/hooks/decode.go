package hooks

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/ocpctl/ocpctl/store/inbox"
)

// Why a body does not match its event. Only the body is signed: the event's name is a header, and somebody with a signed body can
// send it under another name.
var (
	errNotJSON  = errors.New("the body is not a JSON object")
	errMismatch = errors.New("the body does not match its event")
)

// mismatch is a body that does not match its event, with the reason under which it is kept.
type mismatch struct {
	reason inbox.Reason
	why    string
}

func (m mismatch) Error() string { return errMismatch.Error() + ": " + m.why }
func (mismatch) Unwrap() error   { return errMismatch }

// mismatchReason returns the reason of a body that does not match its event; empty: the error is another one.
func mismatchReason(err error) inbox.Reason {
	var m mismatch
	if errors.As(err, &m) {
		return m.reason
	}
	return ""
}

// described are the top-level names of the bodies of each event, from GitHub's OpenAPI description, written by make github-shapes.
//
//go:embed fields.json
var described []byte

// fields are the possible top-level names of an event's bodies, and somebodys those of any event.
var fields, somebodys = sync.OnceValue(readFields), sync.OnceValue(func() map[string]bool {
	all := map[string]bool{}
	for _, names := range fields() {
		maps.Copy(all, names)
	}
	return all
})

func readFields() map[string]map[string]bool {
	var lists map[string][]string
	if err := json.Unmarshal(described, &lists); err != nil {
		panic(fmt.Errorf("fields.json: %w", err)) // it is part of the program
	}
	out := map[string]map[string]bool{}
	for event, names := range lists {
		out[event] = map[string]bool{}
		for _, name := range names {
			out[event][name] = true
		}
	}
	// The description gives every webhook the names that some have. Installation events belong to no repository.
	delete(out[onInstallation], "repository")
	delete(out[onRepositories], "repository")
	return out
}

// namesRequired are the names that an event's body must have, with the first character of their values: { an object, [ a list, " a text, 0
// anything. GitHub adds the installation for all Apps.
func namesRequired(event string) map[string]byte {
	if names, more := required()[event]; more {
		return names
	}
	return required()[onInstallation]
}

var required = sync.OnceValue(func() map[string]map[string]byte {
	all := map[string]map[string]byte{
		onPullRequest:   {"repository": '{', "pull_request": '{'},
		onComment:       {"repository": '{', "issue": '{', "comment": '{'},
		onReview:        {"repository": '{', "pull_request": '{', "review": '{'},
		onReviewComment: {"repository": '{', "pull_request": '{', "comment": '{'},
		onCheckRun:      {"repository": '{', "check_run": '{'},
		onCheckSuite:    {"repository": '{', "check_suite": '{'},
		onRun:           {"repository": '{', "workflow_run": '{'},
		onJob:           {"repository": '{', "workflow_job": '{'},
		onRule:          {"repository": '{', "environment": '"', "deployment": '{', "deployment_callback_url": '"'},
		onDispatch:      {"repository": '{', "branch": '"', "client_payload": 0},
		onMergeGroup:    {"merge_group": '{'},
		onRepository:    {"repository": '{'},
		onRepositories:  {"repositories_added": '[', "repositories_removed": '['},
		onInstallation:  {},
	}
	for _, names := range all {
		names["action"], names["installation"] = '"', '{'
	}
	return all
})

// optionalFields are the names that are read of an event's body beside the required ones, where it has them. Everything else is not read,
// whatever it is: GitHub adds fields as it likes.
func optionalFields(event string) []string {
	return append([]string{"repository", "sender"}, map[string][]string{
		onPullRequest:  {"label", "changes"},
		onCheckRun:     {"requested_action"},
		onRule:         {"pull_requests"},
		onRepository:   {"changes"},
		onMergeGroup:   {"reason"},
		onInstallation: {"repositories"},
	}[event]...)
}

// isAboutWhole reports whether an event is about a repository or an installation as a whole. Such a body has nothing that the bodies of other
// events do not have, too.
func isAboutWhole(event string) bool {
	return event == onRepository || event == onInstallation || event == onRepositories
}

// decodeBody decodes what is read of a body under an event's name. Both the listener and the inbox worker use it, so that they never interpret
// a body differently. The caller must check with fits that the body matches its event before it acts on it.
func decodeBody(event string, body []byte) (webhook, error) {
	names, known, err := readKnown(withoutNUL(body), eventShape(event))
	if err != nil {
		return webhook{}, err
	}
	var p webhook
	err = json.Unmarshal(known, &p)
	var odd *json.UnmarshalTypeError
	switch {
	case errors.As(err, &odd):
		return webhook{}, mismatch{inbox.ReasonUnreadable, fmt.Sprintf("the field %s has the wrong type, %.64s", odd.Field, odd.Value)}
	case err != nil: // an invalid time
		return webhook{}, mismatch{inbox.ReasonUnreadable, fmt.Sprintf("%.200s", err.Error())}
	}
	p.names = names
	return p, nil
}

// checkShape checks that a decoded body matches its event: it has all required names, and the ids that identify what it is about. A name that
// the event should not have is accepted, because GitHub may have added it; only where the event's own names prove nothing, none of
// another event's is.
func (p webhook) checkShape(event string) error {
	missing := ""
	for name, want := range namesRequired(event) {
		if first, there := p.names[name]; (!there || want != 0 && first != want) && (missing == "" || name < missing) {
			missing = name
		}
	}
	if missing != "" {
		return mismatch{inbox.ReasonWrongEvent, fmt.Sprintf("the field %s of a %s event is missing or has the wrong type", missing, event)}
	}
	if isAboutWhole(event) {
		for _, name := range p.fieldsNotDescribed(event) {
			if somebodys()[name] {
				return mismatch{inbox.ReasonWrongEvent, fmt.Sprintf("a %s event has no field %s", event, name)}
			}
		}
	}
	switch in := p.Installation; {
	case (event == onInstallation || event == onRepositories) && (in.App <= 0 || in.Account.Login == ""):
		missing = "the fields installation.app_id and installation.account of a %s event are missing"
	case event == onRun && (p.WorkflowRun.ID <= 0 || p.WorkflowRun.Attempt <= 0) || event == onJob && (p.WorkflowJob.ID <= 0 || p.WorkflowJob.Run <= 0):
		missing = "the id or the attempt of a %s event is missing"
	case event == onRule && (p.runID() <= 0 || p.Deployment.ID <= 0):
		missing = "the run in deployment_callback_url, or the id of the deployment of a %s event is missing"
	case (event == onRepository || event == onRun || event == onJob || event == onRule) && p.Repository.ID <= 0:
		missing = "the field repository.id of a %s event is missing"
	default:
		return nil
	}
	return mismatch{inbox.ReasonWrongEvent, fmt.Sprintf(missing, event)}
}

// fieldsNotDescribed returns the top-level names of a body that GitHub's description of the event does not have.
func (p webhook) fieldsNotDescribed(event string) (names []string) {
	described := fields()[event]
	for name := range p.names {
		if !described[name] {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// decodeStored reads a stored body.
func decodeStored(event string, body []byte) (webhook, error) {
	p, err := decodeBody(event, body)
	if err == nil {
		err = p.checkShape(event)
	}
	return p, err
}
