package github

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// LogLine is a line of a job's log.
type LogLine struct {
	At   time.Time `json:"at"`
	Step int       `json:"step"`           // its number
	Kind string    `json:"kind,omitempty"` // empty, group, endgroup, error, warning, notice
	Text string    `json:"text"`
}

const maxLines = 20_000 // of a job's log

// logs are the logs of jobs, each a file with one line of JSON for each line. An empty folder keeps them in memory only.
type logs struct {
	dir string
	mu  sync.Mutex
	all map[int64]*jobLog
}

// jobLog is the log of one job.
type jobLog struct {
	path  string
	mu    sync.Mutex
	lines []LogLine
}

func (l *logs) path(job int64) string {
	if l.dir == "" {
		return ""
	}
	return filepath.Join(l.dir, itoa(job)+".jsonl")
}

// of returns the log of a job, an empty one for a new job.
func (l *logs) of(job int64) *jobLog {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all == nil {
		l.all = map[int64]*jobLog{}
	}
	one := l.all[job]
	if one == nil {
		one = &jobLog{path: l.path(job)}
		one.load()
		l.all[job] = one
	}
	return one
}

func (l *logs) drop(job int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.all, job)
	if path := l.path(job); path != "" {
		_ = os.Remove(path)
	}
}

func (j *jobLog) load() {
	file, err := os.Open(j.path)
	if err != nil {
		return // there is none yet
	}
	defer func() { _ = file.Close() }()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 8<<20)
	for lines.Scan() {
		var one LogLine
		if json.Unmarshal(lines.Bytes(), &one) == nil {
			j.lines = append(j.lines, one)
		}
	}
}

func (j *jobLog) add(line LogLine) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.lines) >= maxLines {
		return
	}
	if len(j.lines) == maxLines-1 {
		line.Kind, line.Text = "warning", "The log is longer than the stand-in keeps."
	}
	j.lines = append(j.lines, line)
	if j.path == "" {
		return
	}
	raw, err := json.Marshal(line)
	if err != nil {
		return
	}
	// A log that cannot be written is shown as long as the stand-in runs.
	if err := os.MkdirAll(filepath.Dir(j.path), 0o700); err != nil {
		return
	}
	file, err := os.OpenFile(j.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	_, _ = file.Write(append(raw, '\n'))
	_ = file.Close()
}

// snapshot returns the lines so far.
func (j *jobLog) snapshot() []LogLine {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.lines)
}

// Log returns the log of a job.
func (r Runs) Log(job int64) []LogLine { return r.at.s.logs.of(job).snapshot() }
