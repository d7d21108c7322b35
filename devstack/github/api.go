package github

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// handler serves everything: GitHub's API at the root, as on api.github.com, and the playground.
func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	s.appRoutes(mux)
	s.orgRoutes(mux)
	s.route(mux, slices.Concat(s.repoCalls(), s.issueCalls(), s.labelCalls(), s.checkCalls(), s.deploymentCalls(), s.fileCalls(), s.runCalls(), s.reviewCalls()))
	mux.HandleFunc("POST /graphql", s.postGraphQL)
	s.playRoutes(mux)
	mux.HandleFunc("/", s.elsewhere)
	all := http.NewServeMux()
	all.Handle("/", s.metered(mux, s.withAPIFaults(withHeaders(mux))))
	all.Handle(issuerPath+"/", http.StripPrefix(issuerPath, s.issuer.Handler()))
	all.Handle("GET "+idTokenPath+"{job}", s.withAPIFaults(http.HandlerFunc(s.getIDToken)))
	all.HandleFunc("GET "+codeloadPath+"{owner}/{repo}/tar.gz/{ref...}", s.getArchive)
	s.oauthRoutes(all)
	s.adminRoutes(all)
	// Other sites' pages must not act through a browser that has the playground open.
	return http.NewCrossOriginProtection().Handler(all)
}

// withHeaders adds the headers of every GitHub response.
func withHeaders(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-GitHub-Media-Type", "github.v3; format=json")
		h.Set("X-GitHub-Request-Id", GUID())
		if r.UserAgent() == "" { // https://docs.github.com/rest/using-the-rest-api/getting-started-with-the-rest-api#user-agent
			complain(w, http.StatusForbidden, "Request forbidden by administrative rules. Please make sure your request has a User-Agent header.")
			return
		}
		next.ServeHTTP(w, r)
	})
}

const docs = "https://docs.github.com/rest"

// answer writes a JSON response.
func answer(w http.ResponseWriter, status int, body any) {
	raw, err := json.Marshal(body)
	if err != nil {
		status, raw = http.StatusInternalServerError, []byte(`{"message":"Server Error"}`)
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(raw) // the caller disconnected
}

func complain(w http.ResponseWriter, status int, message string) {
	answer(w, status, object{"message": message, "documentation_url": docs, "status": strconv.Itoa(status)})
}

func notFound(w http.ResponseWriter) { complain(w, http.StatusNotFound, "Not Found") }

// invalid writes GitHub's 422.
func invalid(w http.ResponseWriter, resource, field, code string) {
	answer(w, http.StatusUnprocessableEntity, object{
		"message": "Validation Failed", "documentation_url": docs, "status": "422",
		"errors": []object{{"resource": resource, "field": field, "code": code}},
	})
}

// fail maps an act's error to GitHub's statuses.
func fail(w http.ResponseWriter, err error, resource, field string) {
	switch {
	case errors.Is(err, errNotFound):
		notFound(w)
	case errors.Is(err, errMayNot):
		complain(w, http.StatusForbidden, "Must have write access to Repository.")
	case errors.Is(err, errInvalid):
		invalid(w, resource, field, "invalid")
	default:
		complain(w, http.StatusInternalServerError, "Server Error")
	}
}

// lastAnswer is how a handler ends with an answer that is no success.
type lastAnswer struct{ write func(http.ResponseWriter) }

// endIf ends the handling of a call with GitHub's complaint, if a condition holds.
func endIf(holds bool, status int, message string) {
	if holds {
		panic(lastAnswer{func(w http.ResponseWriter) { complain(w, status, message) }})
	}
}

// endMissing ends it with GitHub's 404, if nothing was found.
func endMissing(missing bool) { endIf(missing, http.StatusNotFound, "Not Found") }

// endInvalid ends it with GitHub's 422.
func endInvalid(holds bool, resource, field, code string) {
	if holds {
		panic(lastAnswer{func(w http.ResponseWriter) { invalid(w, resource, field, code) }})
	}
}

// endOnError ends it with what GitHub answers to an act's error.
func endOnError(err error, resource, field string) {
	if err != nil {
		panic(lastAnswer{func(w http.ResponseWriter) { fail(w, err, resource, field) }})
	}
}

// catch is deferred by whatever calls a handler, and answers the call that ended.
func catch(w http.ResponseWriter) {
	switch e := recover().(type) {
	case nil:
	case lastAnswer:
		e.write(w)
	default:
		panic(e)
	}
}

// decodeBody parses a JSON body, or ends the handling of the call.
func decodeBody(r *http.Request, into any) {
	err := json.NewDecoder(http.MaxBytesReader(nil, r.Body, 4<<20)).Decode(into)
	endIf(err != nil, http.StatusBadRequest, "Problems parsing JSON")
}

// page responds with one page of a list, with GitHub's Link header. wrap puts the page into its envelope; nil: none.
func page[T any](w http.ResponseWriter, r *http.Request, base string, all []T, wrap func([]T) any) {
	q := r.URL.Query()
	per, number := clamp(q.Get("per_page"), 30, 100), clamp(q.Get("page"), 1, 1<<20)
	last := max(1, (len(all)+per-1)/per)
	var links []string
	link := func(n int, rel string) {
		u := url.URL{Path: r.URL.Path, RawQuery: withPage(q, n)}
		links = append(links, fmt.Sprintf(`<%s%s>; rel="%s"`, base, u.String(), rel))
	}
	if number > 1 {
		link(number-1, "prev")
	}
	if number < last {
		link(number+1, "next")
		link(last, "last")
	}
	if number > 1 {
		link(1, "first")
	}
	if links != nil {
		w.Header().Set("Link", strings.Join(links, ", "))
	}
	from := min((number-1)*per, len(all))
	part := append([]T{}, all[from:min(from+per, len(all))]...)
	if wrap != nil {
		answer(w, http.StatusOK, wrap(part))
		return
	}
	answer(w, http.StatusOK, part)
}

func withPage(q url.Values, n int) string {
	q.Set("page", strconv.Itoa(n))
	return q.Encode()
}

func clamp(raw string, standard, most int) int {
	n, err := strconv.Atoi(raw)
	if err != nil || n < 1 {
		return standard
	}
	return min(n, most)
}
