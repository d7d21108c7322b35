package doctor

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/chatops/github"
)

func TestWhatAnAppCanDoWithoutIsAWarning(t *testing.T) {
	wanted := appManifest{
		Permissions: map[string]string{"checks": "write", "actions": "read", "members": "read", "merge_queues": "read", "contents": "read"},
		Events:      []string{"pull_request", "workflow_run", "workflow_job", "deployment_protection_rule"},
	}
	app := github.App{Permissions: map[string]string{"checks": "write", "contents": "write"}, Events: []string{"pull_request"}}
	var f findings
	checkPermissions(&f, wanted, app)
	checkEvents(&f, wanted, app)
	require.Len(t, f.results, 6)
	for _, r := range f.results {
		require.Equal(t, Warn, r.Status, r)
		require.NotEmpty(t, r.Next)
	}
	require.Equal(t, "the App lacks actions: read: the end of a workflow run is not noticed, so its clusters end by their time to live, and a job that waits for an environment ocp/<profile> is rejected", f.results[0].Found)

	f, app.Permissions, app.Events = findings{}, map[string]string{"contents": "write"}, nil
	checkPermissions(&f, wanted, app)
	checkEvents(&f, wanted, app)
	var failed []string
	for _, r := range f.results {
		if r.Status == Fail {
			failed = append(failed, r.Found)
		}
	}
	require.Equal(t, []string{"the App lacks checks: write", "GitHub does not send pull_request"}, failed)

	f, app = findings{}, github.App{Permissions: maps.Clone(wanted.Permissions), Events: slices.Clone(wanted.Events)}
	checkPermissions(&f, wanted, app)
	checkEvents(&f, wanted, app)
	require.Equal(t, []Status{OK, OK}, []Status{f.results[0].Status, f.results[1].Status})

	f, app.Permissions["contents"] = findings{}, "write"
	checkPermissions(&f, wanted, app)
	require.Equal(t, OK, f.results[0].Status, "a dispatch needs it")
	app.Permissions["contents"] = "read"
	checkPermissions(&f, wanted, app)
	checkEvents(&f, wanted, app)
	require.Equal(t, []Status{OK, OK}, []Status{f.results[0].Status, f.results[1].Status})
}
