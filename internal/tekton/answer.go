package tekton

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// State is how a PipelineRun stands.
type State struct {
	Finished   bool
	Conclusion string    // of a finished one: success, cancelled, timed_out or failure
	At         time.Time // when it finished; zero if Tekton does not say
}

// pipelineRun is what is read of one.
// https://tekton.dev/docs/pipelines/pipelineruns/#monitoring-execution-status
type pipelineRun struct {
	Kind     string `json:"kind"`
	Metadata struct {
		UID string `json:"uid"`
	} `json:"metadata"`
	Status struct {
		Conditions []struct {
			Type   string `json:"type"`
			Status string `json:"status"`
			Reason string `json:"reason"`
		} `json:"conditions"`
		CompletionTime time.Time `json:"completionTime"`
	} `json:"status"`
}

// conclusions are the reasons of a condition Succeeded with the status False that are no plain failure.
var conclusions = map[string]string{"Cancelled": "cancelled", "PipelineRunTimeout": "timed_out"}

// stateOf reads the condition Succeeded. While its status is Unknown, or it is missing, the run goes on: its finally tasks run, too.
func (p pipelineRun) stateOf() State {
	for _, c := range p.Status.Conditions {
		switch {
		case c.Type != "Succeeded":
		case c.Status == "True":
			return State{true, "success", p.Status.CompletionTime.UTC()}
		case c.Status == "False":
			conclusion, known := conclusions[c.Reason]
			if !known {
				conclusion = "failure"
			}
			return State{true, conclusion, p.Status.CompletionTime.UTC()}
		}
	}
	return State{}
}

// status is the API's own description of an error.
// https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/status/
type status struct {
	Kind    string `json:"kind"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
	Details struct {
		Name  string `json:"name"`
		Group string `json:"group"`
	} `json:"details"`
}

// judgeResponse returns the error that a response means; nil: it is an object. An object that is not there is described by name; a 404 without
// that comes from an API without Tekton, or from something before the API.
func judgeResponse(code int, body []byte, name string) error {
	if code == http.StatusOK {
		return nil
	}
	var said status
	_ = json.Unmarshal(body, &said) // what is no status has no kind
	ofAPI := said.Kind == "Status"
	switch {
	case ofAPI && code == http.StatusNotFound && said.Reason == "NotFound" && said.Details.Name == name && said.Details.Group == "tekton.dev":
		return ErrNotFound
	case code == http.StatusNotFound:
		return ErrNoTekton
	case code == http.StatusUnauthorized, ofAPI && code == http.StatusForbidden:
		return fmt.Errorf("%w: %s", ErrForbidden, orCode(said.Message, code))
	}
	return fmt.Errorf("the response was %s", orCode(said.Message, code))
}

func orCode(message string, code int) string {
	if message == "" {
		return fmt.Sprintf("%d %s", code, http.StatusText(code))
	}
	return fmt.Sprintf("%d: %.300s", code, message)
}
