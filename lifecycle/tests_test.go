package lifecycle

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func reported(run, name string, attempt int, job string, failed int) TestReport {
	return TestReport{
		Name: name, Total: 10, Passed: 10 - failed, Failed: failed, Run: TestRun{ID: run, Since: time.Unix(int64(len(run)), 0)}, Attempt: attempt, Job: job,
	}
}

// lines says which reports count, as name/attempt/job.
func lines(t RunTests) (out []string) {
	for _, r := range t.Reports {
		out = append(out, r.Name+"/"+string(rune('0'+r.Attempt))+"/"+r.Job)
	}
	return out
}

func TestACrashedSuiteFailsARunAndIsMadeUpForLikeAFailure(t *testing.T) {
	crashed := reported("r", "e2e", 1, "a", 0)
	crashed.Crashed = 1
	require.True(t, TestsByRun([]TestReport{crashed})[0].Failed())
	require.False(t, TestsByRun([]TestReport{crashed, reported("r", "e2e", 2, "b", 0)})[0].Failed())
	require.True(t, TestsByRun([]TestReport{crashed, reported("r", "e2e", 1, "b", 0), reported("r", "unit", 2, "c", 0)})[0].Failed())
	flaky := reported("r", "e2e", 1, "a", 0)
	flaky.Flaky = 3
	require.False(t, TestsByRun([]TestReport{flaky})[0].Failed())
}

func TestALaterAttemptReplacesReports(t *testing.T) {
	for _, c := range []struct {
		name   string
		all    []TestReport
		want   []string
		failed bool
	}{
		{"one report", []TestReport{reported("r", "e2e", 1, "a", 0)}, []string{"e2e/1/a"}, false},
		{"the failed job was run again and passed", []TestReport{reported("r", "e2e", 1, "a", 2), reported("r", "e2e", 2, "b", 0)}, []string{"e2e/2/b"}, false},
		{"it failed again", []TestReport{reported("r", "e2e", 1, "a", 0), reported("r", "e2e", 2, "b", 1)}, []string{"e2e/2/b"}, true},
		{"a job that was not run again keeps its report", []TestReport{reported("r", "e2e", 2, "c", 0), reported("r", "unit", 1, "a", 1)},
			[]string{"e2e/2/c", "unit/1/a"}, true},
		{"of two failed jobs of one name, one was run again", []TestReport{reported("r", "e2e", 1, "a", 1), reported("r", "e2e", 1, "b", 1), reported("r", "e2e", 2, "c", 0)},
			[]string{"e2e/2/c", "e2e/1/b"}, true},
		{"both were", []TestReport{reported("r", "e2e", 1, "a", 1), reported("r", "e2e", 1, "b", 1), reported("r", "e2e", 2, "c", 0), reported("r", "e2e", 2, "d", 0)},
			[]string{"e2e/2/c", "e2e/2/d"}, false},
		{"a job passed in the third attempt", []TestReport{reported("r", "e2e", 1, "a", 1), reported("r", "e2e", 2, "b", 1), reported("r", "e2e", 3, "c", 0)},
			[]string{"e2e/3/c"}, false},
		{"of two failed jobs of one name, one was run again twice",
			[]TestReport{reported("r", "e2e", 1, "a", 1), reported("r", "e2e", 1, "b", 1), reported("r", "e2e", 2, "c", 1), reported("r", "e2e", 3, "d", 0)},
			[]string{"e2e/3/d", "e2e/1/b"}, true},
		{"two failed jobs of one name were run again one after the other",
			[]TestReport{reported("r", "e2e", 1, "a", 1), reported("r", "e2e", 1, "b", 1), reported("r", "e2e", 2, "c", 0), reported("r", "e2e", 3, "d", 0)},
			[]string{"e2e/3/d"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := TestsByRun(c.all)
			require.Len(t, got, 1)
			require.Equal(t, c.want, lines(got[0]))
			require.Equal(t, c.failed, got[0].Failed())
		})
	}
}
