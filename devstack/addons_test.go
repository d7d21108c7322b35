package devstack_test

import (
	"fmt"
	"io/fs"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/devstack/installer"
	"github.com/ocpctl/ocpctl/profiles"
)

// A pull request's cluster gets the add-ons that its repository's file picks. One that never comes leaves the cluster READY and is
// tried again; a push brings all of them anew, once; and none of it stands in the way of the end.
func TestAClusterHasItsAddonsAndAPushBringsThemAnew(t *testing.T) {
	t.Parallel()
	l := newLife(t, time.Minute)
	impatient, err := fs.ReadFile(profiles.EmbeddedFiles(), "addons/cert-manager.yaml")
	require.NoError(t, err)
	l.catalogueWith(map[string]string{"addons/cert-manager.yaml": strings.ReplaceAll(string(impatient), "timeout: 10m", "timeout: 300ms")})
	require.NoError(t, l.GitHub.Commit(profiles.RepositoryFilePath, "synchronize: refresh\naddons: [cert-manager, pr-namespace]\n"))
	number, err := l.GitHub.Open("Issue certificates", "maya")
	require.NoError(t, err)
	name := fmt.Sprintf("pr%d-shop", number)
	require.NoError(t, installer.SetFault(l.Faults(), "oc-wait/"+name, &installer.Fault{FailAt: "established"}))
	require.NoError(t, l.GitHub.Label(number, label, "maya"))

	l.runUntil("ready without an add-on", 60*time.Second, func() bool {
		rows := l.clusters()
		return len(rows) == 1 && rows[0].Status == "READY"
	})
	id := l.clusters()[0].ID
	addon := func(name, status string) func() bool {
		return func() bool {
			return l.count(`SELECT count(*) FROM conditions WHERE cluster_id = $1 AND type = $2 AND status = $3`, id, "AddonApplied/"+name, status) == 1
		}
	}
	require.True(t, addon("cert-manager", "False")())
	require.True(t, addon("pr-namespace", "True")(), "one that fails keeps no other from coming")
	l.runUntil("it is tried again", 20*time.Second, func() bool {
		return l.count(`SELECT count(*) FROM attempts WHERE cluster_id = $1 AND kind = 'configure'`, id) > 0
	})
	require.NoError(t, installer.SetFault(l.Faults(), "oc-wait/"+name, nil))
	// Tries may have run out before the fault went: then somebody asks again.
	ask[v1.Accepted](l.as("admin"), http.MethodPost, "/api/v1/clusters/"+id+"/refresh", nil, http.StatusAccepted)
	met := func() bool {
		return addon("cert-manager", "True")() && l.count(`SELECT count(*) FROM clusters WHERE id = $1 AND work #> '{configure,wanted}' = work #> '{configure,done}' AND status = 'READY'`, id) == 1
	}
	l.runUntil("all add-ons are installed", 30*time.Second, met)

	brought := func() int {
		return l.count(`SELECT count(*) FROM attempts WHERE cluster_id = $1 AND kind = 'configure' AND outcome = 'succeeded' AND addons_seen = 2`, id)
	}
	before := brought()
	l.GitHub.DuplicateNext(1)
	require.NoError(t, l.GitHub.Push(number, "maya"))
	l.runUntil("a push brings them anew", 30*time.Second, func() bool { return brought() == before+1 && met() })
	require.Equal(t, 1, l.count(`SELECT count(*) FROM refreshes WHERE cluster_id = $1 AND cause LIKE 'push:%'`, id))
	require.Equal(t, 1, l.count(`SELECT count(*) FROM clusters`), "and nothing else")

	require.NoError(t, installer.SetFault(l.Faults(), "oc-apply/"+name, &installer.Fault{Pause: true}))
	require.NoError(t, l.GitHub.Push(number, "maya"))
	l.runUntil("a runner brings them", 20*time.Second, func() bool {
		return l.count(`SELECT count(*) FROM attempts WHERE cluster_id = $1 AND kind = 'configure' AND phase = 'configuring' AND closed_at IS NULL`, id) == 1
	})
	_, err = l.GitHub.Comment(number, "/ocp destroy", "will")
	require.NoError(t, err)
	l.runUntil("gone", 60*time.Second, l.every("released"))
	require.NoError(t, installer.SetFault(l.Faults(), "oc-apply/"+name, nil))
	l.assertNothingLeft()
	l.assertSettled()
}
