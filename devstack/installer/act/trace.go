package act

import (
	"cmp"
	"fmt"
	"os"
	"strings"
)

// note appends one line to the trace in one write, so that lines of several processes never mix.
func (a *Act) note(what string) error {
	if a.trace == "" {
		return nil
	}
	file, err := os.OpenFile(a.trace, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("open the trace: %w", err)
	}
	defer file.Close()
	_, err = fmt.Fprintf(file, "%s %s %d %s\n", cmp.Or(a.cluster, "-"), cmp.Or(a.command, "-"), a.writes, strings.TrimSpace(what))
	if err != nil {
		return fmt.Errorf("write the trace: %w", err)
	}
	return nil
}
