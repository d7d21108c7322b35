package hooks

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
)

// Why a body does not match its event. Only the body is signed: the event's name is a header, and somebody with a signed body can
// send it under another name.
var (
	errNotJSON = errors.New("the body is not a JSON object")
	errMisfit  = errors.New("the body does not match its event")
)

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

// required are the names that an event's body must have, with the first character of their values: { an object, [ a list, " a text, 0
// anything. GitHub adds the installation for all Apps.
func required(event string) map[string]byte {
	needed := map[string]byte{"action": '"', "installation": '{'}
	maps.Copy(needed, map[string]map[string]byte{
		onPullRequest:  {"repository": '{', "pull_request": '{'},
		onComment:      {"repository": '{', "issue": '{', "comment": '{'},
		onCheckRun:     {"repository": '{', "check_run": '{'},
		onCheckSuite:   {"repository": '{', "check_suite": '{'},
		onRun:          {"repository": '{', "workflow_run": '{'},
		onJob:          {"repository": '{', "workflow_job": '{'},
		onRule:         {"repository": '{', "environment": '"', "deployment": '{', "deployment_callback_url": '"'},
		onDispatch:     {"repository": '{', "branch": '"', "client_payload": 0},
		onRepository:   {"repository": '{'},
		onMergeGroup:   {"repository": '{', "merge_group": '{'},
		onRepositories: {"repositories_added": '[', "repositories_removed": '['},
	}[event])
	return needed
}

// read decodes a body. Both the listener and the inbox worker use it, so that they never interpret a body differently. The caller
// must check with fits that the body matches its event before it acts on it.
func read(body []byte) (webhook, error) {
	if !bytes.HasPrefix(bytes.TrimLeft(body, " \t\r\n"), []byte("{")) {
		return webhook{}, errNotJSON
	}
	var p webhook
	err := json.Unmarshal(withoutNUL(body), &p)
	var odd *json.UnmarshalTypeError
	switch {
	case errors.As(err, &odd):
		return webhook{}, fmt.Errorf("%w: the field %s has the wrong type, %.64s", errMisfit, odd.Field, odd.Value)
	case err != nil && !json.Valid(body):
		return webhook{}, errNotJSON
	case err != nil: // an invalid time
		return webhook{}, fmt.Errorf("%w: %.200s", errMisfit, err.Error())
	}
	return p, nil
}

// fits checks that a decoded body matches its event: it has all required names, none that only other events have, and no name twice.
// A name unknown to GitHub's description is accepted, because it may be new.
func (p webhook) fits(event string, body []byte) error {
	top, err := distinct(withoutNUL(body))
	if err != nil {
		return fmt.Errorf("%w: %w", errMisfit, err)
	}
	needed := required(event)
	for _, name := range slices.Sorted(maps.Keys(needed)) {
		first, there := top[name]
		if want := needed[name]; !there || want != 0 && first != want {
			return fmt.Errorf("%w: the field %s of a %s event is missing or has the wrong type", errMisfit, name, event)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(top)) {
		if !fields()[event][name] && somebodys()[name] {
			return fmt.Errorf("%w: a %s event has no field %s", errMisfit, event, name)
		}
	}
	switch in := p.Installation; {
	case (event == onInstallation || event == onRepositories) && (in.App <= 0 || in.Account.Login == ""):
		return fmt.Errorf("%w: the fields installation.app_id and installation.account of a %s event are missing", errMisfit, event)
	case event == onRun && (p.WorkflowRun.ID <= 0 || p.WorkflowRun.Attempt <= 0) || event == onJob && (p.WorkflowJob.ID <= 0 || p.WorkflowJob.Run <= 0):
		return fmt.Errorf("%w: the id or the attempt of a %s event is missing", errMisfit, event)
	case event == onRule && (p.run() <= 0 || p.Deployment.ID <= 0):
		return fmt.Errorf("%w: the run in deployment_callback_url, or the id of the deployment of a %s event is missing", errMisfit, event)
	case (event == onRepository || event == onRun || event == onJob || event == onRule) && p.Repository.ID <= 0:
		return fmt.Errorf("%w: the field repository.id of a %s event is missing", errMisfit, event)
	}
	return nil
}

// decode reads a stored body.
func decode(event string, body []byte) (webhook, error) {
	p, err := read(body)
	if err == nil {
		err = p.fits(event, body)
	}
	return p, err
}
