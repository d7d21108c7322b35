package web

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/internal/download"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store/attempts"
	"github.com/ocpctl/ocpctl/store/clusters"
)

// inView is how many lines are shown before the line that is looked for.
const inView = 20

// logView is a page of the log of an attempt.
type logView struct {
	Row    clusters.Row
	Log    attempts.AttemptLog
	Groups []logGroup
	Lines  []attempts.LogLine
	From   int
	Find   string
	Found  []foundLine
	More   bool // the search found more
	Wraps  bool // long lines are wrapped
	Fails  int  // number of the failing line; 0: none is known

	FailsAt                      string // address of that line
	First, Before, Next, Last    string // addresses of other pages; empty: there is none
	Download, ToggleWrap, FindOn string
	Follows                      bool // lines come as they are logged
	LastShown                    int
}

// logGroup are the attempts of one kind.
type logGroup struct {
	Name string
	Ways []way
}

// foundLine is a line that a search found, with its address.
type foundLine struct {
	attempts.LogLine
	To string
}

// logGroups are the kinds of attempts that have a group of their own; the others come after them, together.
var logGroups = []struct {
	name  string
	kinds []lifecycle.Kind
}{{"Create", []lifecycle.Kind{lifecycle.Create}}, {"Teardown", []lifecycle.Kind{lifecycle.Destroy}}, {"Other", nil}}

// showLogs leads to the log that is shown first, and there to what failed.
func (p *pages) showLogs(w http.ResponseWriter, r *http.Request, who policy.Principal) {
	row, logs, err := p.App.Logs(r.Context(), who, r.PathValue("id"))
	if err != nil {
		p.showError(w, r, who, err)
		return
	}
	if len(logs) == 0 {
		p.renderPage(w, r, who, http.StatusOK, "logs", logView{Row: row})
		return
	}
	shown := logShownFirst(row, logs)
	v := logView{Row: row, Log: shown, Wraps: true}
	if v.Fails, err = p.App.FailingLine(r.Context(), row, shown); err != nil {
		p.showError(w, r, who, err)
		return
	}
	to := v.address(max(shown.Lines-app.LogPageLines+1, 1))
	if v.Fails > 0 {
		to = v.lineAddress(v.Fails)
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
}

// logShownFirst returns what somebody looks for: the log of the newest create or teardown, and of an install that failed not that of its
// cleanup. What keeps a cluster running comes last.
func logShownFirst(row clusters.Row, logs []attempts.AttemptLog) attempts.AttemptLog {
	for _, l := range slices.Backward(logs) {
		if l.Kind == lifecycle.Create || l.Kind == lifecycle.Destroy && !row.CleanedUp() {
			return l
		}
	}
	return logs[len(logs)-1]
}

// showLog shows a page of the log of one attempt.
func (p *pages) showLog(w http.ResponseWriter, r *http.Request, who policy.Principal) {
	row, logs, log, err := p.logOf(r, who)
	if err != nil {
		p.showError(w, r, who, err)
		return
	}
	v := logView{Row: row, Log: log, Find: strings.TrimSpace(r.FormValue("find")), Wraps: r.FormValue("wrap") != "no"}
	v.From, _ = strconv.Atoi(r.FormValue("from")) // what is no number means the beginning
	v.From = min(max(v.From, 1), max(log.Lines, 1))
	if r.FormValue("after") != "" { // the script asks for what came since
		after, _ := strconv.Atoi(r.FormValue("after"))
		v.From = min(max(after, 0), log.Lines) + 1
	}
	if v.Lines, err = p.App.LogPage(r.Context(), row, log, v.From); err == nil && v.Find != "" {
		err = p.findInLog(r, &v)
	}
	if err == nil {
		v.Fails, err = p.App.FailingLine(r.Context(), row, log)
	}
	if err != nil {
		p.showError(w, r, who, err)
		return
	}
	v.addWays(logs)
	p.renderPage(w, r, who, http.StatusOK, "logs", v)
}

// logOf returns the cluster, its logs and the one that a page is about.
func (p *pages) logOf(r *http.Request, who policy.Principal) (clusters.Row, []attempts.AttemptLog, attempts.AttemptLog, error) {
	number, err := strconv.Atoi(r.PathValue("attempt"))
	if err != nil {
		number = 0 // of no attempt
	}
	return p.App.LogOf(r.Context(), who, r.PathValue("id"), number)
}

func (p *pages) findInLog(r *http.Request, v *logView) error {
	from, _ := strconv.Atoi(r.FormValue("on")) // what is no number means the beginning
	found, err := p.App.FindInLog(r.Context(), v.Row, v.Log, max(from, 1), v.Find)
	if err != nil {
		return err
	}
	for _, line := range found {
		v.Found = append(v.Found, foundLine{line, v.lineAddress(line.Number)})
	}
	if v.More = len(found) == app.MostFound; v.More {
		v.FindOn = v.addressWith(url.Values{"on": {strconv.Itoa(found[len(found)-1].Number + 1)}})
	}
	return nil
}

// addWays adds the addresses of the other attempts and pages.
func (v *logView) addWays(logs []attempts.AttemptLog) {
	for _, g := range logGroups {
		group := logGroup{Name: g.name}
		for _, l := range logs {
			if slices.Contains(g.kinds, l.Kind) || g.kinds == nil && l.Kind != lifecycle.Create && l.Kind != lifecycle.Destroy {
				other := logView{Row: v.Row, Log: l, Wraps: v.Wraps}
				label := fmt.Sprintf("attempt %d", l.Number)
				if g.kinds == nil {
					label += ", " + plainState(l.Kind)
				}
				if l.Outcome != "" && l.Outcome != lifecycle.Succeeded {
					label += ", " + plainState(l.Outcome)
				}
				group.Ways = append(group.Ways, way{To: other.address(1), Label: label, Here: l.Number == v.Log.Number})
			}
		}
		if group.Ways != nil {
			v.Groups = append(v.Groups, group)
		}
	}
	v.LastShown = v.From - 1
	if n := len(v.Lines); n > 0 {
		v.LastShown = v.Lines[n-1].Number
	}
	if v.From > 1 {
		v.First, v.Before = v.address(1), v.address(max(v.From-app.LogPageLines, 1))
	}
	if v.LastShown < v.Log.Lines {
		v.Next, v.Last = v.address(v.LastShown+1), v.address(max(v.Log.Lines-app.LogPageLines+1, 1))
	}
	if v.Fails > 0 {
		v.FailsAt = v.lineAddress(v.Fails)
	}
	toggled := *v
	toggled.Wraps = !v.Wraps
	v.ToggleWrap = toggled.address(v.From)
	v.Download = v.path() + "/log.txt"
	v.Follows = v.Log.ClosedAt == nil && v.Next == ""
}

func (v logView) path() string { return fmt.Sprintf("/clusters/%s/logs/%d", v.Row.ID, v.Log.Number) }

// address is the address of the page that begins with a line.
func (v logView) address(from int) string {
	return v.addressWith(url.Values{"from": {strconv.Itoa(from)}})
}

func (v logView) addressWith(q url.Values) string {
	if !v.Wraps {
		q.Set("wrap", "no")
	}
	if v.Find != "" {
		q.Set("find", v.Find)
	}
	return v.path() + "?" + q.Encode()
}

// lineAddress is the address of a line, in view of those before it.
func (v logView) lineAddress(number int) string {
	return fmt.Sprintf("%s#L%d", v.address(max(number-inView, 1)), number)
}

// Size is how large the log is.
func (v logView) Size() string {
	if v.Log.Bytes < 1<<20 {
		return fmt.Sprintf("%d KiB", (v.Log.Bytes+1023)>>10)
	}
	return fmt.Sprintf("%.1f MiB", float64(v.Log.Bytes)/(1<<20))
}

// downloadLog sends the whole log of an attempt.
func (p *pages) downloadLog(w http.ResponseWriter, r *http.Request, who policy.Principal) {
	row, _, log, err := p.logOf(r, who)
	if err != nil {
		p.showError(w, r, who, err)
		return
	}
	ctx := context.WithoutCancel(r.Context()) // it ends when its reader accepts nothing more
	name := fmt.Sprintf("%s-%s-%d.log", row.Name, log.Kind, log.Number)
	begun, err := download.Send(w, name, "text/plain; charset=utf-8", func(to io.Writer) error { return p.App.SendLog(ctx, row, log, to) })
	switch {
	case err != nil && begun:
		p.Log.ErrorContext(r.Context(), "log broken off", "cluster", row.ID, "err", err)
		panic(http.ErrAbortHandler)
	case err != nil:
		p.showError(w, r, who, err)
	}
}
