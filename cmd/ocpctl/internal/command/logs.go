package command

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/connect"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/exit"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/follow"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/humanize"
)

const (
	mostLines   = 5000
	firstLines  = 200
	logPatience = 45 * time.Second // the server sends a comment every 15 s
)

func (a *app) newLogsCommand() *cobra.Command {
	var on bool
	var job string
	var lines int
	var b bundling
	c := fromTable("logs", &cobra.Command{
		Long: `Show the log of a cluster's newest job, or of one of its jobs.

With --bundle: download the diagnostics of a failed installation to a file, which are the installer's own log and the archives
it gathered. This needs the same rights as the kubeconfig and is recorded in the audit trail. The bundle is available until the
cluster's logs are deleted, 30 to 90 days after the cluster is destroyed.`,
		Example: "  ocpctl logs team-a-smoke-01 -f\n  ocpctl logs team-a-smoke-01 --job job_01J9ZQ0M7V3N6WZ6M4C8Q2K5RV --lines 5000\n  ocpctl logs team-a-smoke-01 --bundle",
	})
	c.Flags().BoolVarP(&on, "follow", "f", false, optionUsage("logs", "follow"))
	c.Flags().StringVar(&job, "job", "", optionUsage("logs", "job"))
	c.Flags().IntVar(&lines, "lines", firstLines, "start with this `number` of last lines, 0 to 5000")
	b.addFlags(c)
	return a.onCluster(c, 0, 1, func(ctx context.Context, api *connect.API, id string, rest []string) error {
		if len(rest) > 0 { // -f FILE, which names a file in other commands
			if !b.on || !on || b.file != "" {
				return exit.Misused("unexpected argument %q", rest[0])
			}
			b.file, on = rest[0], false
		}
		if b.on && on {
			return exit.Misused("--bundle cannot follow a log. Name the file with --file FILE")
		}
		if lines < 0 || lines > mostLines {
			return exit.Misused("--lines must be 0 to %d", mostLines)
		}
		if err := b.checkFlags(c); err != nil {
			return err
		}
		if b.on {
			return a.downloadBundle(ctx, api, id, b)
		}
		if on {
			return a.followLog(ctx, api, id, job, lines)
		}
		body, err := connect.Stream(api.GetLogs(ctx, id, &v1.GetLogsParams{Job: job, Lines: &lines}))
		if err != nil {
			return err
		}
		defer body.Close()
		scan := bufio.NewScanner(body)
		scan.Buffer(nil, 4<<20)
		for scan.Scan() {
			a.writeLogLine(scan.Text())
		}
		return scan.Err()
	})
}

// writeLogLine writes a line; to a terminal without control characters.
func (a *app) writeLogLine(line string) {
	if a.OutTTY {
		line = humanize.Clean(line)
	}
	fmt.Fprintln(a.Out, line)
}

// errLogEnds says that the job has ended.
var errLogEnds = errors.New("the job has ended")

// followLog follows one job's log to its end, across lost connections. Each time it starts with enough lines to find the last ones
// that were shown, and continues after them.
func (a *app) followLog(ctx context.Context, api *connect.API, id, job string, lines int) error {
	found, err := connect.Read[v1.ClusterDetail](api.GetCluster(ctx, id))
	if err != nil {
		return err
	}
	if job == "" {
		job = found.Value.Cluster.JobID // a later job has another log
	}
	at := &cursor{}
	for {
		body, err := connect.Stream(api.GetLogs(ctx, found.Value.ClusterID, &v1.GetLogsParams{Job: job, Lines: &lines, Follow: true}))
		if err == nil {
			err = connect.Events(body, logPatience, func(e connect.Event) error {
				switch e.Name {
				case "log":
					at.takeLine(textOf(e.Data), a.writeLogLine)
				case "end":
					at.flushHeld(a.writeLogLine)
					a.jobEnded(e.Data)
					return errLogEnds
				}
				return nil
			})
		}
		switch {
		case errors.Is(err, errLogEnds):
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case follow.Final(err):
			return err
		}
		if err := a.Sleep(ctx, pollEvery); err != nil {
			return err
		}
		if at.seekTail(); len(at.tail) > 0 {
			lines = mostLines
		}
	}
}

// textOf returns the line in an event: a JSON string, which can contain anything.
func textOf(data string) string {
	var text string
	if json.Unmarshal([]byte(data), &text) != nil {
		return data
	}
	return text
}

// jobEnded says, separate from the log, how its job ended.
func (a *app) jobEnded(data string) {
	var j v1.Job
	if json.Unmarshal([]byte(data), &j) == nil && j.Status != "" {
		a.printNotef("The job %s has ended: %s", j.JobID, humanize.Line(strings.TrimSuffix(j.Status+", "+j.ErrorMessage, ", ")))
	}
}

// cursor remembers a position in a log: the last lines that were shown.
type cursor struct {
	tail []string
	held []string // after a reconnect: lines that may have been shown already
	seek bool
}

// tailLines is enough to recognise a position, because lines contain times.
const tailLines = 20

// seekTail says that the log now starts again somewhere before the position.
func (p *cursor) seekTail() { p.held, p.seek = nil, len(p.tail) > 0 }

// takeLine processes a line and shows it unless it was shown before the reconnect.
func (p *cursor) takeLine(line string, show func(string)) {
	if !p.seek {
		p.showLine(line, show)
		return
	}
	p.held = append(p.held, line)
	if endsWith(p.held, p.tail) {
		p.held, p.seek = nil, false
	} else if len(p.held) >= mostLines {
		p.flushHeld(show)
	}
}

// flushHeld shows the held lines: the position is not among them, so they are all new.
func (p *cursor) flushHeld(show func(string)) {
	held := p.held
	p.held, p.seek = nil, false
	for _, line := range held {
		p.showLine(line, show)
	}
}

func (p *cursor) showLine(line string, show func(string)) {
	show(line)
	if p.tail = append(p.tail, line); len(p.tail) > tailLines {
		p.tail = p.tail[1:]
	}
}

func endsWith(lines, tail []string) bool {
	if len(lines) < len(tail) {
		return false
	}
	for i, line := range lines[len(lines)-len(tail):] {
		if line != tail[i] {
			return false
		}
	}
	return true
}

// bundling says which log bundle to download, and where to.
type bundling struct {
	on      bool
	file    string
	attempt int
}

func (b *bundling) addFlags(c *cobra.Command) {
	c.Flags().BoolVar(&b.on, "bundle", false, optionUsage("logs", "bundle"))
	c.Flags().Var((*file)(&b.file), "file", optionUsage("logs", "file"))
	c.Flags().IntVar(&b.attempt, "attempt", 0, optionUsage("logs", "attempt"))
	for _, other := range []string{"job", "lines"} {
		c.MarkFlagsMutuallyExclusive("bundle", other)
	}
}

// checkFlags says which flags cannot be combined.
func (b *bundling) checkFlags(c *cobra.Command) error {
	for _, name := range []string{"file", "attempt"} {
		if c.Flags().Changed(name) && !b.on {
			return exit.Misused("--%s needs --bundle", name)
		}
	}
	if c.Flags().Changed("attempt") && b.attempt < 1 {
		return exit.Misused("--attempt must be 1 or higher")
	}
	return nil
}

// downloadBundle writes the log bundle to a file that appears only when it is complete and that only its owner can read.
func (a *app) downloadBundle(ctx context.Context, api *connect.API, id string, b bundling) error {
	res, err := api.GetLogBundle(ctx, id, &v1.GetLogBundleParams{Attempt: b.attempt})
	body, err := connect.Stream(res, err)
	if err != nil {
		return err
	}
	defer body.Close()
	path := b.file
	if path == "" {
		if path, err = nameGiven(res.Header); err != nil {
			return err
		}
		if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
			return exit.Misused("%s already exists. Give --file FILE: another file, or the same one to replace it", path)
		}
	}
	a.printNotef("Downloading to %s ...", humanize.Line(path))
	size, err := connect.SaveStream(path, body)
	if err != nil {
		return fmt.Errorf("download the log bundle: %w; nothing was written to %s, so run the command again", err, path)
	}
	a.printNotef("Wrote %s (%d bytes). It contains secrets of the cluster. To unpack it: tar xzf %s", humanize.Line(path), size, humanize.Line(path))
	return nil
}

// nameGiven returns the file name from the server, reduced to a file in the current folder.
func nameGiven(h http.Header) (string, error) {
	_, params, err := mime.ParseMediaType(h.Get("Content-Disposition"))
	name := params["filename"]
	if err != nil || name == "" || name != filepath.Base(name) || strings.HasPrefix(name, ".") || strings.ContainsAny(name, `/\`) || humanize.Line(name) != name {
		return "", exit.Misused("the server gave no usable file name. Give one with --file FILE")
	}
	return name, nil
}
