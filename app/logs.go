package app

import (
	"context"
	"fmt"
	"time"

	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store/attempts"
	"github.com/ocpctl/ocpctl/store/reports"
)

// Log is the end of a job's log, and how far it was read.
type Log struct {
	Job   reports.Job
	Lines []string
	mark  attempts.LogMark
}

// Log returns the last lines of the log of one of a cluster's jobs: of the newest if job is empty. It is redacted.
func (s *Service) Log(ctx context.Context, p policy.Principal, ref, job string, lines int) (Log, error) {
	row, err := s.Cluster(ctx, p, ref)
	if err != nil {
		return Log{}, err
	}
	if job == "" {
		job = row.JobID
	}
	found, of, err := s.findJob(ctx, p, job)
	if err != nil {
		return Log{}, err
	}
	if of.ID != row.ID {
		return Log{}, Fail(NotFound, fmt.Sprintf("%[2]s has no job %[1]q. See the list of its jobs.", job, row.Name))
	}
	job = found.ID
	out := Log{Job: found}
	if out.mark, err = s.store.Attempts.LogEnd(ctx, job); err != nil {
		return Log{}, err
	}
	if out.Lines, err = s.store.Attempts.LogTail(ctx, job, lines); err != nil {
		return Log{}, fmt.Errorf("read log: %w", err)
	}
	return out, nil
}

// Reader receives a log that is followed.
type Reader struct {
	Who   func() policy.Principal // who reads, with their current roles
	Every time.Duration           // between two calls of Beat
	Lines func([]string) error
	Beat  func() error
}

// FollowLog reads a log on until its job has ended, ctx is done or the reader returns an error. It checks each time who reads
// and whether they may see the cluster. It returns the job as it is then.
func (s *Service) FollowLog(ctx context.Context, l Log, r Reader) (reports.Job, error) {
	changes, stop := s.store.Follow(ctx, l.Job.Cluster)
	defer stop()
	beats := time.NewTicker(r.Every)
	defer beats.Stop()
	for {
		job, err := s.readOn(ctx, &l, r)
		if err != nil || job.EndedAt != nil {
			return job, err
		}
		select {
		case <-ctx.Done():
			return job, ctx.Err()
		case <-beats.C:
			if err := r.Beat(); err != nil {
				return job, err
			}
		case _, open := <-changes:
			if !open {
				return job, context.Canceled
			}
		}
	}
}

// readOn reads everything that is there. It reads the job first: nothing is logged after the job has ended.
func (s *Service) readOn(ctx context.Context, l *Log, r Reader) (reports.Job, error) {
	job, _, err := s.findJob(ctx, r.Who(), l.Job.ID)
	if err != nil {
		return reports.Job{}, err
	}
	for {
		lines, next, err := s.store.Attempts.LogAfter(ctx, job.ID, l.mark)
		if err != nil {
			return job, err
		}
		if len(lines) == 0 {
			return job, nil
		}
		l.mark = next
		if err := r.Lines(lines); err != nil {
			return job, err
		}
	}
}
