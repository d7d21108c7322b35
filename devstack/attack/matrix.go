package attack

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	"golang.org/x/sync/errgroup"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/app/auth"
	"github.com/ocpctl/ocpctl/app/web"
	"github.com/ocpctl/ocpctl/devstack/attack/matrix"
	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/devstack/pick"
)

// matrixAttacks compare every operation, page and form with the permission matrix.
func matrixAttacks() []attack {
	return []attack{
		{name: "matrix/operations", who: "every principal", tried: "every operation of openapi.yaml", short: true, play: operationsMatrix},
		{name: "matrix/pages", who: "every principal", tried: "every page and form", play: pagesMatrix},
		{name: "matrix/cross-site", who: "another site", tried: "every form from another site's page, with an admin's session", play: crossSite},
	}
}

// operation is an operation of the running server's API document.
type operation struct{ id, method, path string }

// operations reads the running server's API document.
func (t *target) operations(ctx context.Context) (_ []operation, err error) {
	defer must.Catch(&err)
	got := must.Get(t.nobody().ask(ctx, http.MethodGet, "/api/v1/openapi.yaml", nil))
	var document struct {
		Paths map[string]map[string]yaml.Node
	}
	must.Wrap(yaml.Unmarshal(got.body, &document), "read openapi.yaml")
	var all []operation
	for _, path := range slices.Sorted(maps.Keys(document.Paths)) {
		for method, node := range document.Paths[path] {
			var o struct {
				ID string `yaml:"operationId"`
			}
			if method == "parameters" {
				continue
			}
			err := node.Decode(&o)
			must.FailIf(err != nil || o.ID == "", "%s %s has no operationId: %w", method, path, err)
			all = append(all, operation{o.ID, strings.ToUpper(method), path})
		}
	}
	slices.SortFunc(all, func(a, b operation) int { return cmp.Or(a.order()-b.order(), cmp.Compare(a.id, b.id)) })
	return all, nil
}

// order puts operations that change the stage at the end.
func (o operation) order() int {
	return slices.Index([]string{"approve", "refuse", "unshareCluster", "sleepCluster", "wakeCluster", "destroyCluster"}, o.id)
}

// byAll has every principal ask, and returns the answers in their order. They ask at once, unless the operation changes the stage: each has a
// rate limit of its own.
func (o operation) byAll(ask func(matrix.Principal) (answer, error)) ([]answer, error) {
	said := make([]answer, len(matrix.Principals))
	var all errgroup.Group
	if o.order() >= 0 {
		all.SetLimit(1)
	}
	for i, who := range matrix.Principals {
		all.Go(func() (err error) {
			said[i], err = ask(who)
			return err
		})
	}
	return said, all.Wait()
}

func operationsMatrix(ctx context.Context, t *target) (result, error) {
	rows := must.Get(matrix.Operations())
	all := must.Get(t.operations(ctx))
	ids := pick.Map(all, func(o operation) string { return o.id })
	if wrong := matrix.Missing(rows, ids); len(wrong) > 0 {
		return result{}, fmt.Errorf("the matrix does not fit openapi.yaml: %s", strings.Join(wrong, ", "))
	}
	s := must.Get(t.stage(ctx, "matrix-api"))
	defer s.runner.stop()
	var wrong []string
	for _, o := range all {
		row := rows[o.id]
		var body any
		if row.Body != nil {
			body = row.Body
		}
		said := must.Get(o.byAll(func(who matrix.Principal) (answer, error) {
			return patient(ctx, func() (answer, error) {
				return s.callers[who].ask(ctx, o.method, s.names.Replace(cmp.Or(row.Path, o.path)), body, "Idempotency-Key", "matrix-"+o.id)
			})
		}))
		for i, who := range matrix.Principals {
			if text := differs(cmp.Or(row.Live, row.For(who)), strconv.Itoa(said[i].status)); text != "" {
				wrong = append(wrong, fmt.Sprintf("%s by %s: %s", o.id, who, text))
			}
		}
	}
	return matrixResult(wrong, len(all), "operations")
}

// differs compares a response with the matrix: a refusal must match exactly, and whoever is allowed must never be refused. Empty: it
// matches.
func differs(want, got string) string {
	if matrix.Refused(want) && got != want || !matrix.Refused(want) && matrix.Refused(got) || strings.HasPrefix(got, "5") {
		return fmt.Sprintf("answered %s instead of %s", got, want)
	}
	return ""
}

func matrixResult(wrong []string, rows int, what string) (result, error) {
	throughIf(len(wrong) > 0, "%d of %d answers are wrong: %s", len(wrong), rows*len(matrix.Principals), strings.Join(wrong, "; "))
	return held("%d %s × %d principals: none of %d answers is wrong", rows, what, len(matrix.Principals), rows*len(matrix.Principals))
}

func pagesMatrix(ctx context.Context, t *target) (result, error) {
	rows := must.Get(matrix.Pages())
	routes := web.Routes()
	if wrong := matrix.Missing(rows, routes); len(wrong) > 0 {
		return result{}, fmt.Errorf("the matrix does not fit the pages: %s", strings.Join(wrong, ", "))
	}
	s := must.Get(t.stage(ctx, "matrix-web"))
	defer s.runner.stop()
	slices.SortStableFunc(routes, func(a, b string) int { return pageOrder(a) - pageOrder(b) })
	var wrong []string
	for _, route := range routes {
		for _, who := range matrix.Principals {
			got := must.Get(patient(ctx, func() (answer, error) { return t.openPage(ctx, s, who, route, rows[route]) }))
			said := strconv.Itoa(got.status)
			if to := got.header.Get("Location"); got.status == http.StatusSeeOther && (strings.HasPrefix(to, "/login") || strings.HasPrefix(to, auth.BeginPath)) {
				said = "login"
			}
			if text := differs(rows[route].For(who), said); text != "" {
				wrong = append(wrong, fmt.Sprintf("%s by %s: %s", route, who, text))
			}
		}
	}
	return matrixResult(wrong, len(routes), "pages and forms")
}

// pageOrder puts routes that change the stage at the end. A cluster that sleeps has no kubeconfig, so everything that hands one out is tried before.
func pageOrder(route string) int {
	return slices.Index([]string{
		"POST /approvals/{id}/approve", "POST /approvals/{id}/refuse", "POST /links/{link}", "POST /clusters/{id}/unshare",
		"POST /clusters/{id}/sleep", "POST /clusters/{id}/wake", "POST /clusters/{id}/destroy",
	}, route)
}

// openPage opens a page or posts a form as somebody; the cookie contains a bearer token in place of a session.
func (t *target) openPage(ctx context.Context, s *stage, who matrix.Principal, route string, row matrix.Row) (_ answer, err error) {
	defer must.Catch(&err)
	method, at, _ := strings.Cut(route, " ")
	at = cmp.Or(row.Path, strings.ReplaceAll(at, "{$}", ""))
	switch {
	case strings.HasPrefix(at, "/approvals/"):
		at = strings.ReplaceAll(at, "{id}", s.names.Replace("{approval}"))
	case strings.HasPrefix(at, "/deliveries/"):
		at = strings.ReplaceAll(at, "{id}", s.names.Replace("{delivery}"))
	case strings.Contains(at, "{link}"):
		var link v1.Link
		must.Do(s.callers[matrix.Requester].expect(ctx, http.StatusCreated, &link, http.MethodPost, "/api/v1/clusters/"+s.id+"/kubeconfig-links", nil))
		at = strings.ReplaceAll(at, "{link}", path.Base(link.URL))
	default:
		if route == "POST /clusters/{id}/unshare" { // an earlier principal removed it
			must.Do(t.share(ctx, s, matrix.Sees, "see"))
		}
		at = s.names.Replace(at)
	}
	form := url.Values{}
	for name, value := range row.Form {
		form.Set(name, strings.ReplaceAll(value, "{sees}", t.idOf(matrix.Claims()[matrix.Sees])))
	}
	return s.callers[who].browse(ctx, method, at, form)
}

// sessionCookie is the pages' session cookie. The pages accept in it any token that the API accepts.
const sessionCookie = auth.CookieName

// browse makes a browser's request with the caller's token as its session.
func (c caller) browse(ctx context.Context, method, at string, form url.Values, headers ...string) (answer, error) {
	b := caller{home: c.home, header: http.Header{}}
	if token, ok := strings.CutPrefix(c.header.Get("Authorization"), "Bearer "); ok {
		b.header.Set("Cookie", sessionCookie+"="+token)
	}
	if method == http.MethodGet {
		return b.ask(ctx, method, at, nil, headers...)
	}
	headers = append([]string{"Content-Type", "application/x-www-form-urlencoded", "Sec-Fetch-Site", "same-origin"}, headers...)
	return b.ask(ctx, method, at, []byte(form.Encode()), headers...)
}

// crossSite posts every form as another site's page would make an admin's browser do it.
func crossSite(ctx context.Context, t *target) (result, error) {
	rows := must.Get(matrix.Pages())
	s := must.Get(t.stage(ctx, "matrix-csrf"))
	defer s.runner.stop()
	var wrong []string
	forms := 0
	for _, route := range append(web.Routes(), "POST /logout") {
		if !strings.HasPrefix(route, http.MethodPost) {
			continue
		}
		forms++
		for _, headers := range [][]string{
			{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}, {"Sec-Fetch-Site", "", "Origin", "https://evil.example"}, {"Sec-Fetch-Site", "", "Origin", "null"},
		} {
			got := must.Get(patient(ctx, func() (answer, error) {
				_, at, _ := strings.Cut(route, " ")
				return s.callers[matrix.Admin].browse(ctx, http.MethodPost, s.names.Replace(at), url.Values{"reason": {"x"}}, headers...)
			}))
			if got.status != http.StatusForbidden {
				wrong = append(wrong, fmt.Sprintf("%s with %v answered %d", route, headers, got.status))
			}
		}
	}
	now, err := t.state(ctx, s.id)
	must.Do(err)
	throughIf(len(wrong) > 0 || now.Desired != "present", "%s; %s", now, strings.Join(wrong, "; "))
	must.FailIf(forms < len(rows)/3, "only %d forms were found", forms)
	return held("%d forms × 4 kinds of foreign page: all refused with 403, the cluster is as it was", forms)
}
