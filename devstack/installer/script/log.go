package script

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ocpctl/ocpctl/devstack/must"
)

// levels are ordered from the least to the most verbose.
var levels = []string{"fatal", "error", "warning", "info", "debug"}

// logger writes the real installer's two logs: standard error up to a level, without time and quotes, and the file in the install
// directory with everything.
type logger struct {
	mu     sync.Mutex
	stderr io.Writer
	level  int
	file   *os.File
	now    func() time.Time
}

func newLogger(stderr io.Writer, level, dir string) (_ *logger, err error) {
	defer must.Catch(&err)
	l := &logger{stderr: stderr, level: slices.Index(levels, strings.Replace(level, "warn", "warning", boolInt(level == "warn"))), now: time.Now}
	must.FailIf(l.level < 0, "invalid log-level: not a valid logrus Level: %q", level)
	must.Do(os.MkdirAll(dir, 0o750))
	file := must.Get(os.OpenFile(filepath.Join(dir, ".openshift_install.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644))
	l.file = file
	return l, nil
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (l *logger) close() { _ = l.file.Close() } // every line was written immediately

func (l *logger) say(level, format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	message := fmt.Sprintf(format, args...)
	fmt.Fprintf(l.file, "time=%q level=%s msg=%q\n", l.now().UTC().Format(time.RFC3339), level, message)
	if slices.Index(levels, level) > l.level {
		return
	}
	for line := range strings.SplitSeq(message, "\n") {
		fmt.Fprintf(l.stderr, "level=%s msg=%s\n", level, line)
	}
}

func (l *logger) debug(format string, args ...any) { l.say("debug", format, args...) }
func (l *logger) info(format string, args ...any)  { l.say("info", format, args...) }
func (l *logger) warn(format string, args ...any)  { l.say("warning", format, args...) }
