package act

import (
	"cmp"
	"fmt"
	"os"
	"strings"

	"github.com/ocpctl/ocpctl/devstack/must"
)

// note appends one line to the trace in one write, so that lines of several processes never mix.
func (a *Act) note(what string) (err error) {
	defer must.Catch(&err)
	if a.trace == "" {
		return nil
	}
	file, err := os.OpenFile(a.trace, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	must.Wrap(err, "open the trace")
	defer file.Close()
	_, err = fmt.Fprintf(file, "%s %s %d %s\n", cmp.Or(a.cluster, "-"), cmp.Or(a.command, "-"), a.writes, strings.TrimSpace(what))
	must.Wrap(err, "write the trace")
	return nil
}
