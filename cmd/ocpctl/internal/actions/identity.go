package actions

import (
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"regexp"
	"strings"
)

// mostSlot and mostName are the API's limits.
const (
	mostSlot = 100
	mostName = 21
)

// clusterSlot returns which of the run's clusters is meant: the input, or the job with its place in the matrix and the cluster's name.
func (s *step) clusterSlot() string {
	if given := s.Text("slot"); given != "" {
		return given
	}
	slot := s.Env("GITHUB_JOB") + "/" + s.matrixIndex() + "/" + s.Text("name")
	if len(slot) > mostSlot {
		slot = strings.ToValidUTF8(slot[:mostSlot-9], "") + "-" + digestOf(8, slot)
	}
	return slot
}

// matrixIndex returns the job's place in its matrix.
func (s *step) matrixIndex() string {
	if index := s.Env("OCPCTL_JOB_INDEX"); index != "" { // the expression strategy.job-index
		return index
	}
	return "0"
}

// idempotencyKey returns the request's idempotency key: a step that is run twice in the same job gets one cluster. Two jobs have two keys, so that the
// server judges the slot of the second one.
func (s *step) idempotencyKey() string {
	return strings.Join([]string{"github", s.Env("GITHUB_RUN_ID"), s.Env("GITHUB_RUN_ATTEMPT"), digestOf(16, s.jobIdentity(), s.clusterSlot(), s.Text("profile"))}, "-")
}

// jobIdentity returns what no other job of the run's attempt is called. Where GitHub does not give the job's id, two calls of a reusable workflow
// are one job for it.
func (s *step) jobIdentity() string {
	if id := s.Env("OCPCTL_JOB_ID"); id != "" { // the expression job.check_run_id
		return id
	}
	return s.Env("GITHUB_JOB") + "/" + s.matrixIndex()
}

var unfit = regexp.MustCompile(`[^a-z0-9]+`)

// clusterName returns the cluster's name: the input, or one made of the repository and the number of the run. The end is different for
// each attempt and slot, because the cluster before it keeps its name until nothing is left of it.
func (s *step) clusterName() string {
	if given := s.Text("name"); given != "" {
		return given
	}
	_, repository, _ := strings.Cut(strings.ToLower(s.Env("GITHUB_REPOSITORY")), "/")
	end := "-" + s.Env("GITHUB_RUN_NUMBER") + "-" + digestOf(5, s.Env("GITHUB_REPOSITORY"), s.Env("GITHUB_RUN_ID"), s.Env("GITHUB_RUN_ATTEMPT"), s.clusterSlot())
	start := strings.Trim(unfit.ReplaceAllString(repository, "-"), "-")
	if start == "" || start[0] < 'a' {
		start = "r" + start // a name begins with a letter
	}
	return strings.TrimRight(start[:max(1, min(len(start), mostName-len(end)))], "-") + end
}

// digestOf returns some characters that depend on all of the texts.
func digestOf(length int, texts ...string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q", texts))
	return strings.ToLower(base32.StdEncoding.EncodeToString(sum[:]))[:length]
}
