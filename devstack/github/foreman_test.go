package github

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	gh "github.com/google/go-github/v66/github"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/github/runs"
	"github.com/ocpctl/ocpctl/devstack/github/workflow"
)

// scripted is an engine whose workflow files are lines: "on EVENT", "group NAME", and for each job "KEY: NEED NEED, environment NAME,
// token". A test writes the lines of its jobs.
type scripted struct {
	mu   sync.Mutex
	jobs map[string]*scriptedJob // by key
}

type scriptedJob struct {
	hear      func(workflow.Line)
	order     workflow.JobOrder
	cancelled chan struct{}
	done      chan struct{}
	once      sync.Once
}

func (e *scripted) Repositories() map[string]string { return nil }

func (e *scripted) Triggers(_ context.Context, o workflow.TriggersOrder) (out []workflow.Trigger, err error) {
	for path, content := range o.Files {
		if strings.Contains(content, "on "+o.Event.Name+"\n") {
			out = append(out, workflow.Trigger{Path: path, Name: "e2e"})
		}
	}
	return out, nil
}

func (e *scripted) Plan(_ context.Context, o workflow.PlanOrder) (out workflow.Plan, err error) {
	for line := range strings.Lines(o.Files[o.Path]) {
		line = strings.TrimSpace(line)
		if group, ok := strings.CutPrefix(line, "group "); ok {
			out.Concurrency.Group = group
		}
		if key, rest, ok := strings.Cut(line, ":"); ok {
			needs, _, _ := strings.Cut(rest, ",")
			out.Jobs = append(out.Jobs, workflow.PlanJob{Key: key, Name: key, Needs: strings.Fields(needs)})
		}
	}
	return out, nil
}

func (e *scripted) Ready(_ context.Context, o workflow.ReadyOrder) (workflow.Ready, error) {
	one := workflow.Instance{Name: o.Key, Labels: []string{"ubuntu-latest"}, Timeout: time.Hour, Steps: []string{"Work"}}
	for line := range strings.Lines(o.Files[o.Path]) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), o.Key+":"); ok {
			one.IDToken = strings.Contains(rest, "token")
			_, one.Environment, _ = strings.Cut(rest, "environment ")
		}
	}
	for _, need := range o.Needs {
		if need.Result != runs.Success || o.Cancelled {
			return workflow.Ready{}, nil
		}
	}
	return workflow.Ready{Run: true, Instances: []workflow.Instance{one}}, nil
}

func (e *scripted) Outputs(context.Context, workflow.OutputsOrder) (workflow.Outputs, error) {
	return workflow.Outputs{}, nil
}

func (e *scripted) Start(_ context.Context, _ string, o workflow.JobOrder, _ map[string]string, hear func(workflow.Line)) (Execution, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.jobs == nil {
		e.jobs = map[string]*scriptedJob{}
	}
	e.jobs[o.Key] = &scriptedJob{hear: hear, order: o, cancelled: make(chan struct{}), done: make(chan struct{})}
	return e.jobs[o.Key], nil
}

func (j *scriptedJob) Cancel()               { close(j.cancelled) }
func (j *scriptedJob) Done() <-chan struct{} { return j.done }
func (j *scriptedJob) Kill()                 { go j.end("failure", nil) }

// says makes the job's only step write lines.
func (j *scriptedJob) says(lines ...workflow.Line) {
	for _, line := range lines {
		line.Step, line.Stage, line.At = 0, "Main", time.Now()
		j.hear(line)
	}
}

func (j *scriptedJob) end(result string, outputs map[string]string) {
	j.once.Do(func() {
		j.hear(workflow.Line{Kind: workflow.Done, Step: -2, Result: result, Outputs: outputs, At: time.Now()})
		close(j.done)
	})
}

// running waits for a job that runs.
func (e *scripted) running(t *testing.T, key string) *scriptedJob {
	t.Helper()
	var one *scriptedJob
	require.Eventually(t, func() bool {
		e.mu.Lock()
		defer e.mu.Unlock()
		one = e.jobs[key]
		return one != nil
	}, 10*time.Second, time.Millisecond, key)
	return one
}

func withEngine(t *testing.T) (*Server, *inbox, *scripted) {
	t.Helper()
	in, engine := newInbox(t), &scripted{}
	s := start(t, Config{WebhookURL: in.URL, WebhookSecret: secret, Engine: engine})
	m := Registered()
	m.Permissions["actions"], m.Permissions["contents"] = "write", "write"
	m.Events = append(m.Events, "workflow_run", "workflow_job", "deployment_protection_rule")
	s.SetManifest(m)
	return s, in, engine
}

const scriptPath = ".github/workflows/script.yml"

// lastRun waits until the newest run of the script is as wanted.
func lastRun(t *testing.T, s *Server, is func(Run) bool) (out Run) {
	t.Helper()
	require.Eventually(t, func() bool {
		for _, run := range s.Runs().List() {
			if run.Path == scriptPath {
				out = run
			}
		}
		return out.ID != 0 && is(out)
	}, 10*time.Second, time.Millisecond)
	return out
}

func completedRun(run Run) bool { return run.Status == runs.Completed }

func TestAnEventStartsARunWhoseJobsFollowEachOther(t *testing.T) {
	s, in, engine := withEngine(t)
	require.NoError(t, s.Commit(scriptPath, "on push\nbuild:\ne2e: build\n"))
	engine.running(t, "build").end("success", map[string]string{"image": "i"})
	e2e := engine.running(t, "e2e")
	require.Equal(t, map[string]string{"image": "i"}, e2e.order.Needs["build"].Outputs)
	require.Equal(t, "refs/heads/main", e2e.order.Env["GITHUB_REF"])
	e2e.end("failure", nil)
	in.wantRuns("run requested queued  1", "build queued queued  1", "run in_progress in_progress  1", "build in_progress in_progress  1",
		"build completed completed success 1", "e2e queued queued  1", "e2e in_progress in_progress  1", "e2e completed completed failure 1",
		"run completed completed failure 1")
}

func TestNothingStartsForAnEventThatNoWorkflowNames(t *testing.T) {
	s, _, _ := withEngine(t)
	require.NoError(t, s.Commit(scriptPath, "on schedule\nbuild:\n"))
	require.NoError(t, s.Schedule())
	run := lastRun(t, s, func(Run) bool { return true })
	require.Equal(t, "schedule", run.Event)
	require.Len(t, s.Runs().List(), 1)
}

func TestACancelledJobGetsTheTimeToCleanUp(t *testing.T) {
	s, _, engine := withEngine(t)
	require.NoError(t, s.Commit(scriptPath, "on push\nbuild:\ne2e: build\n"))
	build := engine.running(t, "build")
	build.says(workflow.Line{Kind: workflow.Began, Text: "Work"})
	run := lastRun(t, s, func(Run) bool { return true })
	require.NoError(t, s.Runs().Cancel(run.ID, "will"))
	<-build.cancelled
	run, _ = s.Runs().Get(run.ID)
	require.Equal(t, runs.InProgress, run.Status, "it may clean up")
	build.says(workflow.Line{Kind: workflow.Ended, Result: "failure"})
	build.end("failure", nil)
	run = lastRun(t, s, completedRun)
	require.Equal(t, runs.Cancelled, run.Conclusion)
	require.Equal(t, []string{runs.Cancelled, runs.Cancelled}, []string{run.Jobs[0].Conclusion, run.Jobs[1].Conclusion})
	require.Equal(t, runs.Cancelled, run.Jobs[0].Steps[1].Conclusion)
}

func TestForceCancelWaitsForNobody(t *testing.T) {
	s, _, engine := withEngine(t)
	require.NoError(t, s.Commit(scriptPath, "on push\nbuild:\n"))
	build := engine.running(t, "build")
	run := lastRun(t, s, func(Run) bool { return true })
	require.NoError(t, s.Runs().ForceCancel(run.ID, "will"))
	run, _ = s.Runs().Get(run.ID)
	require.Equal(t, runs.Cancelled, run.Conclusion)
	<-build.done
}

func TestARunOfAGroupWaitsForTheOneBefore(t *testing.T) {
	s, _, engine := withEngine(t)
	require.NoError(t, s.Commit(scriptPath, "on push\ngroup g\nbuild:\n"))
	first := engine.running(t, "build")
	require.NoError(t, s.Commit(scriptPath, "on push\ngroup g\nsecond:\n"))
	pending := lastRun(t, s, func(run Run) bool { return run.Status == runs.Pending })
	require.NoError(t, s.Commit(scriptPath, "on push\ngroup g\nthird:\n"))
	lastRun(t, s, func(run Run) bool { return run.Status == runs.Pending && run.ID != pending.ID })
	gone, _ := s.Runs().Get(pending.ID)
	require.Equal(t, runs.Cancelled, gone.Conclusion, "only the newest one waits")
	first.end("success", nil)
	engine.running(t, "third").end("success", nil)
	require.Equal(t, runs.Success, lastRun(t, s, completedRun).Conclusion)
}

func TestWhatAJobWritesIsMaskedBeforeItIsStored(t *testing.T) {
	s, _, engine := withEngine(t)
	require.NoError(t, s.Commit(scriptPath, "on push\nbuild: , token\n"))
	build := engine.running(t, "build")
	mask := func(text string) workflow.Line {
		return workflow.Line{Kind: workflow.Command, Text: text, Params: map[string]string{"command": "add-mask"}}
	}
	token := build.order.Private["ACTIONS_ID_TOKEN_REQUEST_TOKEN"]
	require.NotEmpty(t, token)
	build.says(
		workflow.Line{Kind: workflow.Began, Text: "Work"}, mask("pass"), mask("password-1\nsecond line"),
		workflow.Line{Kind: workflow.Output, Text: "password-1 and second line, " + token},
		workflow.Line{Kind: workflow.Command, Text: "no pass", Params: map[string]string{"command": "error", "title": "pass"}},
		workflow.Line{Kind: workflow.Command, Text: "Group of pass", Params: map[string]string{"command": "group"}},
		workflow.Line{Kind: workflow.Summary, Text: "# password-1", Inner: true}, workflow.Line{Kind: workflow.Summary, Text: "# password-1"},
		workflow.Line{Kind: workflow.Problem, Text: "exit status 3"}, workflow.Line{Kind: workflow.Ended, Result: "failure"},
	)
	build.end("failure", map[string]string{"good": "yes", "bad": "has password-1 in it"})
	run := lastRun(t, s, completedRun)
	j := run.Jobs[0]
	var lines []string
	for _, line := range s.Runs().Log(j.ID) {
		lines = append(lines, strings.TrimSpace(line.Kind+" "+line.Text))
	}
	require.Equal(t, []string{"*** and ***, ***", "error no ***", "group Group of ***", "error Process completed with exit code 3."}, lines)
	require.Equal(t, "# ***\n", j.Steps[1].Summary, "act reports it twice")
	require.Equal(t, map[string]string{"good": "yes"}, j.Outputs)
	require.NotContains(t, fmt.Sprint(j.Annotations), "pass")
	require.Len(t, j.Annotations, 3)
}

func TestOnlyARunningJobGetsItsOwnToken(t *testing.T) {
	s, _, engine := withEngine(t)
	require.NoError(t, s.Commit(scriptPath, "on push\none: , token\ntwo: , token\nthree:\n"))
	one, two := engine.running(t, "one"), engine.running(t, "two")
	require.Empty(t, engine.running(t, "three").order.Private, "it has no permissions: id-token: write")
	ask := func(j *scriptedJob, token string) int {
		status, _ := call(t, "GET", j.order.Private["ACTIONS_ID_TOKEN_REQUEST_URL"]+"&audience=x", "bearer "+token)
		return status
	}
	token := one.order.Private["ACTIONS_ID_TOKEN_REQUEST_TOKEN"]
	require.Equal(t, http.StatusOK, ask(one, token))
	require.Equal(t, http.StatusUnauthorized, ask(two, token), "another job's")
	require.Equal(t, http.StatusUnauthorized, ask(one, "made up"))
	one.end("success", nil)
	require.Equal(t, http.StatusUnauthorized, ask(one, token), "the job is over")
}

func TestAJobWaitsUntilTheAppApproves(t *testing.T) {
	s, in, engine := withEngine(t)
	require.NoError(t, s.Protect("ocp/aws", true))
	client := asInstallation(t, s)
	require.NoError(t, s.Commit(scriptPath, "on push\ne2e: , environment ocp/aws\n"))
	require.Equal(t, []string{"run requested queued  1", "e2e waiting waiting  1"}, []string{in.nextRun(), in.nextRun()})
	asked, ok := in.next().payload.(*gh.DeploymentProtectionRuleEvent)
	require.True(t, ok)
	require.Equal(t, "ocp/aws", asked.GetEnvironment())
	run := lastRun(t, s, func(run Run) bool { return run.Status == runs.Waiting })
	require.Equal(t, s.URL()+"/repos/acme/shop/actions/runs/"+itoa(run.ID)+"/deployment_protection_rule", asked.GetDeploymentCallbackURL())
	tell := func(state, comment string) int {
		body := map[string]string{"environment_name": "ocp/aws", "comment": comment}
		if state != "" {
			body["state"] = state
		}
		req, err := client.NewRequest("POST", asked.GetDeploymentCallbackURL(), body)
		require.NoError(t, err)
		answer, err := client.Do(t.Context(), req, nil)
		require.True(t, err == nil || answer != nil, "%v", err)
		return answer.StatusCode
	}
	for range runs.MaxComments {
		require.Equal(t, 204, tell("", "installing"))
	}
	require.Equal(t, 422, tell("", "still installing"), "ten are enough")
	require.Equal(t, 204, tell("approved", "ready"))
	engine.running(t, "e2e").end("success", nil)
	in.wantRuns("e2e queued queued  1", "run in_progress in_progress  1", "e2e in_progress in_progress  1",
		"e2e completed completed success 1", "run completed completed success 1")
	require.Equal(t, 422, tell("approved", "again"), "nothing waits")
	var states []string
	for _, one := range s.Deployments()[0].Statuses {
		states = append(states, one.State)
	}
	require.Equal(t, []string{"pending", "queued", "in_progress", "success"}, states)

	require.NoError(t, s.Commit(scriptPath, "on push\ne2e: , environment ocp/aws\n# again"))
	run = lastRun(t, s, func(other Run) bool { return other.ID != run.ID && other.Status == runs.Waiting })
	require.NoError(t, s.Runs().Cancel(run.ID, "maya"))
	require.Equal(t, runs.Cancelled, lastRun(t, s, completedRun).Conclusion)
}

func TestARejectedDeploymentFailsItsJob(t *testing.T) {
	s := start(t, Config{})
	require.NoError(t, s.Protect("ocp/aws", false, "ada", "maya"))
	run, err := s.Runs().Start(NewRun{Jobs: []NewJob{{Key: "e2e", Environment: "ocp/aws"}, {Key: "last", Needs: []string{"e2e"}}}})
	require.NoError(t, err)
	require.Equal(t, runs.Waiting, run.Status)
	require.ErrorIs(t, s.Runs().Review(run.ID, "ocp/aws", runs.Rejected, "no", "will"), errInvalid)
	require.NoError(t, s.Runs().Review(run.ID, "ocp/aws", runs.Rejected, "no", "ada"))
	run, _ = s.Runs().Get(run.ID)
	require.Equal(t, runs.Failure, run.Conclusion)
	require.Equal(t, runs.Skipped, run.Jobs[1].Conclusion)
	require.Equal(t, "failure", s.Deployments()[0].State())
}

func TestADeploymentStatusOfTheAppStartsWorkflowsAndOneOfARunDoesNot(t *testing.T) {
	s, _, engine := withEngine(t)
	require.NoError(t, s.Commit(scriptPath, "on deployment_status\ne2e: , environment staging\n"))
	client := asInstallation(t, s)
	deployment, _, err := client.Repositories.CreateDeployment(t.Context(), "acme", "shop", &gh.DeploymentRequest{
		Ref: new("main"), Environment: new("ocpctl/x"), AutoMerge: new(false), RequiredContexts: &[]string{},
	})
	require.NoError(t, err)
	_, _, err = client.Repositories.CreateDeploymentStatus(t.Context(), "acme", "shop", deployment.GetID(), &gh.DeploymentStatusRequest{State: new("success")})
	require.NoError(t, err)
	engine.running(t, "e2e").end("success", nil)
	run := lastRun(t, s, completedRun)
	require.Equal(t, []string{"deployment_status", "refs/heads/main", Bot}, []string{run.Event, run.Ref, run.Actor})
	require.Len(t, s.Runs().List(), 1, "the deployment of its own job starts nothing")
}

func TestTheEventsOfRunsCanBeLostDoubledAndLate(t *testing.T) {
	s, in := withRuns(t)
	run, err := s.Runs().Start(NewRun{})
	require.NoError(t, err)
	in.wantRuns("run requested queued  1", "e2e queued queued  1")
	s.Lose("workflow_run.completed", "workflow_job")
	require.NoError(t, s.Runs().Begin(run.Jobs[0].ID))
	in.wantRuns("run in_progress in_progress  1")
	require.NoError(t, s.Runs().Complete(run.Jobs[0].ID, runs.Success))
	settled(t, s)
	require.Empty(t, in.got)
	s.Lose()
	s.DuplicateNext(1)
	s.HoldNext(1)
	require.NoError(t, s.Runs().Rerun(run.ID, "maya"))
	again, _ := s.Runs().Get(run.ID)
	require.NoError(t, s.Runs().Begin(again.Current()[0].ID))
	require.NoError(t, s.Runs().Complete(again.Current()[0].ID, runs.Success))
	s.Release()
	var got []string
	for range 6 {
		got = append(got, in.nextRun())
	}
	slices.Sort(got)
	require.Equal(t, []string{
		"e2e completed completed success 2", "e2e in_progress in_progress  2", "e2e queued queued  2",
		"run completed completed success 2", "run in_progress in_progress  2", "run in_progress in_progress  2",
	}, got)
}
