package api

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/store/clusters"
)

// setETag sets the ETag for a cluster's current state.
func setETag(w http.ResponseWriter, row clusters.Row) {
	w.Header().Set("ETag", formatETag(row.Version))
}

func formatETag(version int64) string { return fmt.Sprintf("%q", strconv.FormatInt(version, 10)) }

// parseIfMatch parses If-Match: the version for which the change is meant, 0 for any. A list is refused, because the caller must say which
// version it saw.
func parseIfMatch(header string) (version int64, err error) {
	given := strings.TrimSpace(header)
	if given == "" || given == "*" {
		return 0, nil
	}
	inner, opens := strings.CutPrefix(given, `"`)
	inner, closes := strings.CutSuffix(inner, `"`)
	version, failed := strconv.ParseInt(inner, 10, 64)
	if !opens || !closes || failed != nil || version <= 0 {
		return 0, &malformed{app.Error{Kind: app.Invalid, Message: "The header If-Match is not valid.", Fields: []app.Field{
			{Name: "If-Match", Detail: "it is not an ETag of this server", Accept: []string{`the ETag of the cluster as you know it, e.g. "17"`, "*"}},
		}}}
	}
	return version, nil
}
