// Package doctor checks everything that a server depends on, from the place where it will run and with its own configuration, and says
// what to do about each thing that is wrong.
//
// It repairs nothing. Two checks write, unless Config.ReadOnly is set: an object in the artifacts bucket, which is deleted again, and
// GitHub's last webhook, which GitHub is asked to send once more. A result must never contain a secret.
package doctor

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/cmd/ocpctl-server/internal/config"
	"github.com/ocpctl/ocpctl/internal/secret"
)

// Status is the outcome of one check.
type Status string

// The outcomes. Only Fail makes the whole examination fail.
const (
	OK      Status = "ok"
	Warn    Status = "warn"
	Fail    Status = "fail"
	Skipped Status = "skipped"
)

// Result is what one check found.
type Result struct {
	Check  string `json:"check"` // area and subject, e.g. s3.versioning
	Status Status `json:"status"`
	Found  string `json:"found"`          // for Skipped, why it was not checked
	Next   string `json:"next,omitempty"` // what to do about it
}

// Config says what is examined.
type Config struct {
	Settings config.Loaded
	Invalid  error // what is wrong with the settings; then nothing else is examined
	Roles    config.Roles
	ReadOnly bool             // skip the checks that write
	Timeout  time.Duration    // of each area; zero: 30 s
	Now      func() time.Time // nil: time.Now

	Kubernetes Kubernetes // where runners run as pods; nil: they do not
}

const areaTimeout = 30 * time.Second

// area examines one thing that the server depends on, as a list of checks.
type area struct {
	name string
	run  func(context.Context, *findings)
}

// Run examines everything that the roles need, all areas at once, and reports the results in a fixed order as soon as they are known.
// It returns how many checks failed.
func Run(ctx context.Context, cfg Config, report func(Result)) (failed int) {
	d := newDoctor(cfg)
	areas := d.listAreas()
	done := make([]chan []Result, len(areas))
	for i, a := range areas {
		done[i] = make(chan []Result, 1)
		go func() { done[i] <- d.examineArea(ctx, a) }() // waited for below
	}
	for _, results := range done {
		for _, r := range <-results {
			if r.Status == Fail {
				failed++
			}
			report(r)
		}
	}
	return failed
}

// examineArea runs one area within its time limit.
func (d *doctor) examineArea(ctx context.Context, a area) []Result {
	ctx, cancel := context.WithTimeout(ctx, d.Timeout)
	defer cancel()
	f := &findings{area: a.name}
	a.run(ctx, f)
	return f.results
}

// doctor is one examination.
type doctor struct {
	Config
	http *http.Client
}

func newDoctor(cfg Config) *doctor {
	if cfg.Timeout == 0 {
		cfg.Timeout = areaTimeout
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &doctor{Config: cfg, http: &http.Client{
		Timeout: callTimeout, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// listAreas lists what the roles need, in the order of the report.
func (d *doctor) listAreas() (list []area) {
	if d.Invalid != nil {
		return []area{{"configuration", d.reportInvalid}}
	}
	inner := []string{config.APIRole, config.WorkerRole}
	for _, a := range []struct {
		name string
		by   []string // nil: every role
		run  func(context.Context, *findings)
	}{
		{"configuration", nil, d.checkConfiguration},
		{"secrets", nil, d.checkSecrets},
		{"database", nil, d.checkDatabase},
		{"listeners", []string{config.HooksRole, config.APIRole}, d.checkListeners},
		{"s3", inner, d.checkS3},
		{"identity", []string{config.APIRole}, d.checkIdentity},
		{"ui", inner, d.checkPages},
		{"github", []string{config.WorkerRole}, d.checkGitHub},
		{"tekton", []string{config.WorkerRole}, d.checkTekton},
		{"slack", []string{config.HooksRole, config.WorkerRole}, d.checkSlack},
		{"account", []string{config.WorkerRole}, d.checkAccount},
		{"ibmcloud", []string{config.WorkerRole}, d.ibmCloud},
		{"runner", []string{config.WorkerRole}, d.checkRunner},
		{"kubernetes", []string{config.WorkerRole}, d.checkKubernetes},
	} {
		if a.by == nil || d.hasAny(a.by) {
			list = append(list, area{a.name, a.run})
		}
	}
	return list
}

// findings collects the results of an area.
type findings struct {
	area    string
	results []Result
}

func (f *findings) addResult(check string, s Status, next, found string) {
	f.results = append(f.results, Result{Check: f.area + "." + check, Status: s, Found: found, Next: next})
}

func (f *findings) ok(check, found string, args ...any) {
	f.addResult(check, OK, "", fmt.Sprintf(found, args...))
}

func (f *findings) warn(check, next, found string, args ...any) {
	f.addResult(check, Warn, next, fmt.Sprintf(found, args...))
}

func (f *findings) fail(check, next, found string, args ...any) {
	f.addResult(check, Fail, next, fmt.Sprintf(found, args...))
}

func (f *findings) skip(check, why string, args ...any) {
	f.addResult(check, Skipped, "", fmt.Sprintf(why, args...))
}

// resolveSecret resolves a reference for an area. A failure is reported in the area secrets, so here the check is skipped.
func (d *doctor) resolveSecret(ctx context.Context, f *findings, check, field, ref string) (secret.Text, bool) {
	value, err := d.Settings.Secret(ctx, field, ref)
	if err != nil {
		f.skip(check, "%s cannot be read; see the check secrets.%s", field, field)
		return secret.Text{}, false
	}
	return value, true
}

// The differences between two clocks that are reported. GitHub refuses Apps whose clock is more than a minute ahead, and AWS refuses
// requests that are five minutes off.
const (
	noticedSkew = 5 * time.Second
	mostSkew    = 30 * time.Second
)

// checkClock compares a clock with ours. precision is how far off the comparison itself may be.
func (d *doctor) checkClock(f *findings, whose string, theirs time.Time, precision time.Duration) {
	apart := d.Now().Sub(theirs)
	direction := "ahead of"
	if apart < 0 {
		apart, direction = -apart, "behind"
	}
	shown := apart.Round(100 * time.Millisecond)
	const next = "Synchronize the clock of this machine with NTP (chronyc tracking, timedatectl status)."
	switch apart = max(apart-precision, 0); {
	case apart > mostSkew:
		f.fail("clock", next, "this machine's clock is %s %s %s's: signatures and leases depend on both", shown, direction, whose)
	case apart > noticedSkew:
		f.warn("clock", next, "this machine's clock is %s %s %s's", shown, direction, whose)
	default:
		f.ok("clock", "this machine's clock agrees with %s's", whose)
	}
}

// countOf returns "1 process" or "3 processes".
func countOf(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// joinWords joins words for a sentence.
func joinWords(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " and " + words[last]
}
