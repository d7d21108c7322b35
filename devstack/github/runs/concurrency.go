package runs

import "slices"

// Member is a run or a job that belongs to a concurrency group; the job is nil for a run.
type Member struct {
	Run *Run
	Job *Job
}

func (m Member) group() string {
	if m.Job != nil {
		return m.Job.Concurrency.Group
	}
	return m.Run.Concurrency.Group
}

func (m Member) status() string {
	if m.Job != nil {
		return m.Job.Status
	}
	return m.Run.Status
}

// members are the open members of a group in one repository, the oldest first.
func members(all []*Run, group string) []Member {
	var out []Member
	for _, r := range all {
		if r.Status == Completed || !r.Planned {
			continue
		}
		if r.Concurrency.Group == group {
			out = append(out, Member{r, nil})
		}
		for _, j := range r.Current() {
			if j.Concurrency.Group == group && j.Status != Completed && j.Status != "" {
				out = append(out, Member{r, j})
			}
		}
	}
	return out
}

// Enter says what becomes of a member that comes new to its group: which others are cancelled, and whether it has to wait. One member
// of a group runs and at most one waits: https://docs.github.com/actions/reference/workflows-and-actions/workflow-syntax#concurrency
func Enter(all []*Run, m Member) (cancel []Member, wait bool) {
	if m.group() == "" {
		return nil, false
	}
	stops := m.Run.Concurrency.Cancel
	if m.Job != nil {
		stops = m.Job.Concurrency.Cancel
	}
	for _, other := range members(all, m.group()) {
		if other == m {
			continue
		}
		if stops || other.status() == Pending {
			cancel = append(cancel, other)
		}
		wait = wait || other.status() != Pending
	}
	return cancel, wait
}

// Free reports whether a member that waits may go on: nobody of its group runs any more.
func Free(all []*Run, m Member) bool {
	return !slices.ContainsFunc(members(all, m.group()), func(other Member) bool { return other != m && other.status() != Pending })
}
