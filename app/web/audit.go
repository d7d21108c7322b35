package web

import (
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/auditchain"
)

type auditView struct {
	Fields []filterField
	Head   *auditchain.Head // newest line; nil while an older page is shown
	Lines  []auditLine
	Older  string // URL of the next page
}

// filterField is one field of a filter form.
type filterField struct {
	Name, Label, Type, Value, Hint, Wrong string
}

type auditLine struct {
	auditchain.Line
	Message string // why
	Name    string // of the cluster; empty: it is not known
}

// auditFields are the filters of the audit trail.
var auditFields = []filterField{
	{Name: "actor", Label: "Who", Type: "text", Hint: "saml:maya@acme.example"},
	{Name: "action", Label: "What", Type: "text", Hint: "accepted"},
	{Name: "cluster", Label: "Cluster", Type: "text", Hint: "name, or clu_…"},
	{Name: "from", Label: "From", Type: "date"},
	{Name: "to", Label: "Until, not included", Type: "date"},
}

func (p *pages) listAudit(w http.ResponseWriter, r *http.Request, who policy.Principal) {
	v := auditView{Fields: append([]filterField{}, auditFields...)}
	q, wrong := url.Values{}, false
	times := map[string]time.Time{}
	for i := range v.Fields {
		f := &v.Fields[i]
		if f.Value = strings.TrimSpace(r.FormValue(f.Name)); f.Value == "" {
			continue
		}
		q.Set(f.Name, f.Value)
		if f.Type == "date" {
			if times[f.Name], f.Wrong = dayOf(f.Value); f.Wrong != "" {
				wrong = true
			}
		}
	}
	cursor := cursorOf(r)
	status := http.StatusBadRequest
	if !wrong {
		lines, next, err := p.Admin.Audit(r.Context(), who, store.AuditFilter{
			Actor: q.Get("actor"), Action: q.Get("action"), Cluster: q.Get("cluster"), From: times["from"], To: times["to"], Cursor: cursor,
		})
		if err != nil {
			p.showError(w, r, who, err)
			return
		}
		names, err := p.Admin.ClusterNames(r.Context(), lines)
		if err != nil {
			p.showError(w, r, who, err)
			return
		}
		status = http.StatusOK
		v.addLines(lines, cursor == "" && len(q) == 0, p.App.NameOf, names)
		v.Older = nextPageURL("/audit", q, next)
	}
	p.renderPage(w, r, who, status, "audit", v)
}

func (v *auditView) addLines(lines []auditchain.Line, newest bool, nameOf func(string) string, names map[string]string) {
	for _, l := range lines {
		var meta struct {
			Why    string
			Reason lifecycle.Reason
		}
		_ = json.Unmarshal([]byte(l.Metadata), &meta) // the raw text is shown as well
		v.Lines = append(v.Lines, auditLine{Line: l, Name: names[l.Cluster], Message: messages.AuditText(messages.AuditLine{Actor: l.Actor, Action: l.Action, Why: meta.Why, Reason: meta.Reason, Meta: json.RawMessage(l.Metadata), NameOf: nameOf})})
	}
	if newest && len(lines) > 0 {
		head := lines[0].Head()
		v.Head = &head
	}
}

// verifyAudit recomputes the hash chain and shows the result.
func (p *pages) verifyAudit(w http.ResponseWriter, r *http.Request, who policy.Principal) {
	proof, err := p.Admin.VerifyAudit(r.Context(), who)
	if err == nil && !proof.Whole() {
		p.redirectWith(w, r, who, "/audit", said{Message: proof.Text(), Bad: true})
		return
	}
	p.answerForm(w, r, who, "/audit", proof.Text(), err)
}

var cursorForm = regexp.MustCompile(`^[0-9]{1,18}$`)

// cursorOf returns the cursor of a page; an invalid one becomes the first page.
func cursorOf(r *http.Request) string {
	if c := r.FormValue("cursor"); cursorForm.MatchString(c) {
		return c
	}
	return ""
}

// nextPageURL returns the URL of the next page; empty: this is the last.
func nextPageURL(path string, q url.Values, next string) string {
	if next == "" {
		return ""
	}
	q.Set("cursor", next)
	return path + "?" + q.Encode()
}

// day is the format of a browser's date field.
const day = "2006-01-02"

func dayOf(text string) (at time.Time, wrong string) {
	at, err := time.Parse(day, text)
	if err != nil {
		return time.Time{}, "“" + text + "” is not a date. Accepted: a date such as 2025-03-31."
	}
	return at, ""
}
