// Package deploy_test holds what an installation is made from against the code it is for.
package deploy_test

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/ocpctl/ocpctl/app/hooks"
	"github.com/ocpctl/ocpctl/app/web"
	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/chatops/github"
	standin "github.com/ocpctl/ocpctl/devstack/github"
)

// manifest is what GitHub makes an App from.
type manifest struct {
	Name           string   `yaml:"name"`
	URL            string   `yaml:"url"`
	Description    string   `yaml:"description"`
	Public         bool     `yaml:"public"`
	RedirectURL    string   `yaml:"redirect_url"`
	CallbackURLs   []string `yaml:"callback_urls"`
	OAuthOnInstall bool     `yaml:"request_oauth_on_install"`
	HookAttributes struct {
		URL    string `yaml:"url"`
		Active bool   `yaml:"active"`
	} `yaml:"hook_attributes"`
	DefaultPermissions map[string]string `yaml:"default_permissions"`
	DefaultEvents      []string          `yaml:"default_events"`
}

func read(t *testing.T) (m manifest) {
	t.Helper()
	file, err := os.Open("github-app.yaml")
	require.NoError(t, err)
	defer file.Close()
	decoder := yaml.NewDecoder(file)
	decoder.KnownFields(true)
	require.NoError(t, decoder.Decode(&m))
	return m
}

func TestTheAppIsSentTheEventsThatTheEntryPointHandles(t *testing.T) {
	heard := slices.Sorted(maps.Keys(hooks.Events()))
	heard = slices.DeleteFunc(heard, func(event string) bool { // of these every App is told, and none can ask for them
		return slices.Contains([]string{"installation", "installation_repositories", "ping"}, event)
	})
	m := read(t)
	require.ElementsMatch(t, heard, m.DefaultEvents)
	require.False(t, m.Public, "nobody else installs it")
	require.True(t, m.HookAttributes.Active)
	require.Contains(t, m.HookAttributes.URL, "/webhooks/github")
	require.Equal(t, []string{m.URL + web.ProofPath}, m.CallbackURLs)
	require.False(t, m.OAuthOnInstall, "whoever installs the App proves nothing")
}

// calls are all there is to ask of the wire, by the names of its methods.
var calls = map[string]func(t *testing.T, s *standin.Server, c *github.Client) error{
	"AddLabel": func(t *testing.T, _ *standin.Server, c *github.Client) error {
		return c.AddLabel(t.Context(), standin.Installation, standin.Repo, 41, "bug")
	},
	"App": func(t *testing.T, _ *standin.Server, c *github.Client) error {
		_, err := c.App(t.Context())
		return err
	},
	"EnsureLabels": func(t *testing.T, _ *standin.Server, c *github.Client) error {
		_, _, err := c.EnsureLabels(t.Context(), standin.Installation, standin.Repo, []chatops.Label{{Name: "ocp/new", Color: "0e8a16", Description: "new"}})
		return err
	},
	"File": func(t *testing.T, _ *standin.Server, c *github.Client) error {
		_, err := c.File(t.Context(), standin.Installation, standin.Repo, "README.md", standin.Branch)
		return err
	},
	"Removes": func(t *testing.T, _ *standin.Server, c *github.Client) error {
		_, err := c.Removes(t.Context(), standin.Installation, standin.Repo, 41, "README.md")
		return err
	},
	"HookDeliveries": func(t *testing.T, _ *standin.Server, c *github.Client) error {
		_, err := c.HookDeliveries(t.Context(), time.Now().Add(-time.Hour))
		return err
	},
	"InstallationOf": func(t *testing.T, _ *standin.Server, c *github.Client) error {
		_, err := c.InstallationOf(t.Context(), standin.Repo)
		return err
	},
	"Installations": func(t *testing.T, _ *standin.Server, c *github.Client) error {
		_, err := c.Installations(t.Context())
		return err
	},
	"MinimizeComment": func(t *testing.T, s *standin.Server, c *github.Client) error {
		comment, err := s.Comment(41, "/ocp status", "maya")
		require.NoError(t, err)
		return c.MinimizeComment(t.Context(), standin.Installation, standin.Repo, comment, "OUTDATED")
	},
	"OwnLogin": func(t *testing.T, _ *standin.Server, c *github.Client) error {
		_, err := c.OwnLogin(t.Context())
		return err
	},
	"Permission": func(t *testing.T, _ *standin.Server, c *github.Client) error {
		_, err := c.Permission(t.Context(), standin.Installation, standin.Repo, "maya", 2001)
		return err
	},
	"PullRequest": func(t *testing.T, _ *standin.Server, c *github.Client) error {
		_, err := c.PullRequest(t.Context(), standin.Installation, standin.Repo, 41)
		return err
	},
	"Folder": func(t *testing.T, s *standin.Server, c *github.Client) error {
		_, err := c.Folder(t.Context(), standin.Installation, standin.Repo, ".github", head(s))
		return err
	},
	"ChangesBelow": func(t *testing.T, _ *standin.Server, c *github.Client) error {
		_, err := c.ChangesBelow(t.Context(), standin.Installation, standin.Repo, 41, ".github")
		return err
	},
	"Propose": func(t *testing.T, _ *standin.Server, c *github.Client) error {
		_, err := c.Propose(t.Context(), standin.Installation, standin.Repo, github.Proposal{
			Branch: "ocpctl/eff-1", Path: "teams/shop.yaml", Now: "name: shop\n", Title: "Add team shop",
		})
		return err
	},
	"QueueBranches": func(t *testing.T, _ *standin.Server, c *github.Client) error {
		_, err := c.QueueBranches(t.Context(), standin.Installation, standin.Repo)
		return err
	},
	"PullsAt": func(t *testing.T, s *standin.Server, c *github.Client) error {
		_, err := c.PullsAt(t.Context(), standin.Installation, standin.Repo, head(s))
		return err
	},
	"Pulls": func(t *testing.T, _ *standin.Server, c *github.Client) error {
		looks, err := c.Pulls(t.Context(), standin.Installation, []github.PullRef{{Repo: standin.Repo, Number: 41}})
		if err != nil {
			return err
		}
		return looks[0].Err
	},
	"AccountID": func(t *testing.T, _ *standin.Server, c *github.Client) error {
		_, err := c.AccountID(t.Context(), standin.Installation, "maya")
		return err
	},
	"Login": func(t *testing.T, _ *standin.Server, c *github.Client) error {
		_, err := c.Login(t.Context(), standin.Installation, 2001)
		return err
	},
	"LabelledPulls": func(t *testing.T, _ *standin.Server, c *github.Client) error {
		_, err := c.LabelledPulls(t.Context(), standin.Installation, []string{standin.Repo}, "ocp/")
		return err
	},
	"Labelings": func(t *testing.T, _ *standin.Server, c *github.Client) error {
		looks, err := c.Labelings(t.Context(), standin.Installation, []github.PullRef{{Repo: standin.Repo, Number: 41}})
		if err != nil {
			return err
		}
		return looks[0].Err
	},
	"Repositories": func(t *testing.T, _ *standin.Server, c *github.Client) error {
		_, _, err := c.Repositories(t.Context(), standin.Installation, 1)
		return err
	},
	"RateLimit": func(t *testing.T, _ *standin.Server, c *github.Client) error {
		_, err := c.RateLimit(t.Context(), standin.Installation)
		return err
	},
	"React": func(t *testing.T, s *standin.Server, c *github.Client) error {
		comment, err := s.Comment(41, "/ocp status", "maya")
		require.NoError(t, err)
		return c.React(t.Context(), standin.Installation, standin.Repo, comment, "eyes")
	},
	"Redeliver": func(t *testing.T, _ *standin.Server, c *github.Client) error {
		var list []github.HookDelivery
		require.Eventually(t, func() (sent bool) {
			var err error
			list, err = c.HookDeliveries(t.Context(), time.Now().Add(-time.Hour))
			return err == nil && len(list) > 0
		}, 5*time.Second, 5*time.Millisecond)
		return c.Redeliver(t.Context(), list[0].ID)
	},
	"Job": func(t *testing.T, s *standin.Server, c *github.Client) error {
		run, err := s.Runs().Start(standin.NewRun{})
		require.NoError(t, err)
		_, err = c.Job(t.Context(), standin.Installation, standin.Repo, run.Jobs[0].ID)
		return err
	},
	"Run": func(t *testing.T, s *standin.Server, c *github.Client) error {
		run, err := s.Runs().Start(standin.NewRun{})
		require.NoError(t, err)
		_, err = c.Run(t.Context(), standin.Installation, standin.Repo, run.ID)
		return err
	},
	"Dispatch": func(t *testing.T, _ *standin.Server, c *github.Client) error {
		return c.Dispatch(t.Context(), standin.Installation, standin.Repo, "ocpctl_cluster_ready", map[string]string{"cluster_id": "clu_1"})
	},
	"Pending": func(t *testing.T, s *standin.Server, c *github.Client) error {
		_, err := c.Pending(t.Context(), standin.Installation, standin.Repo, waiting(t, s))
		return err
	},
	"Review": func(t *testing.T, s *standin.Server, c *github.Client) error {
		return c.Review(t.Context(), standin.Installation, standin.Repo, waiting(t, s), chatops.Review{Environment: "ocp/aws", Comment: "It is being created."})
	},
	"RemoveLabel": func(t *testing.T, s *standin.Server, c *github.Client) error {
		require.NoError(t, s.Label(42, "bug", "maya"))
		return c.RemoveLabel(t.Context(), standin.Installation, standin.Repo, 42, "bug")
	},
	"Repository": func(t *testing.T, _ *standin.Server, c *github.Client) error {
		_, err := c.Repository(t.Context(), standin.Installation, standin.Repo)
		return err
	},
	"TeamMember": func(t *testing.T, _ *standin.Server, c *github.Client) error {
		_, err := c.TeamMember(t.Context(), standin.Installation, standin.Org, standin.Team, "maya")
		return err
	},
	"Webhook": func(t *testing.T, _ *standin.Server, c *github.Client) error {
		_, err := c.Webhook(t.Context())
		return err
	},
	"UpsertCheckRun": func(t *testing.T, s *standin.Server, c *github.Client) error {
		_, err := c.UpsertCheckRun(t.Context(), github.CheckTarget{Installation: standin.Installation, Repo: standin.Repo, Head: head(s), Name: "ocpctl", ExternalKey: "sub_1"},
			chatops.CheckRun{Title: "queued", Summary: "queued", Status: "queued"})
		return err
	},
	"UpsertComment": func(t *testing.T, _ *standin.Server, c *github.Client) error {
		_, err := c.UpsertComment(t.Context(), github.CommentTarget{Installation: standin.Installation, Repo: standin.Repo, Number: 41, Marker: "sub_2"}, "hello")
		return err
	},
	"RemoveDeployments": func(t *testing.T, s *standin.Server, c *github.Client) error {
		_, err := c.RemoveDeployments(t.Context(), standin.Installation, standin.Repo, "ocp/shop")
		return err
	},
	"UpsertDeployment": func(t *testing.T, s *standin.Server, c *github.Client) error {
		_, err := c.UpsertDeployment(t.Context(), github.DeploymentTarget{Installation: standin.Installation, Repo: standin.Repo, Head: head(s), ExternalKey: "sub_3"},
			chatops.Deployment{Environment: "ocpctl/aws", Task: "ocpctl:shop", State: "in_progress", Description: "installing"})
		return err
	},
}

// extra are the calls that need a permission which only some installations grant.
var extra = map[string]map[string]string{"Dispatch": {"contents": "write"}, "Propose": {"contents": "write"}}

// waiting is a run whose job waits for the App's rule.
func waiting(t *testing.T, s *standin.Server) int64 {
	t.Helper()
	require.NoError(t, s.Protect("ocp/aws", true))
	run, err := s.Runs().Start(standin.NewRun{Jobs: []standin.NewJob{{Key: "e2e", Environment: "ocp/aws"}}})
	require.NoError(t, err)
	return run.ID
}

func head(s *standin.Server) string {
	pr, _ := s.PullRequest(41)
	return pr.HeadSHA
}

// asked makes every call with these permissions and lists those that GitHub refused.
func asked(t *testing.T, key string, permissions map[string]string) (refused []string) {
	t.Helper()
	deaf := httptest.NewServer(http.NotFoundHandler())
	defer deaf.Close()
	s, err := standin.Start(t.Context(), standin.Config{KeyPath: key, WebhookURL: deaf.URL})
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Stop()) }()
	c, err := github.New(github.Config{AppID: standin.AppID, PrivateKey: s.KeyPEM(), BaseURL: s.URL(), Pace: -1, Settling: -1})
	require.NoError(t, err)
	s.SetManifest(standin.Manifest{Permissions: permissions, Events: read(t).DefaultEvents})
	require.NoError(t, s.Label(41, "question", "maya")) // of which something is told
	for _, name := range slices.Sorted(maps.Keys(calls)) {
		if err := calls[name](t, s, c); err != nil {
			require.Regexp(t, "not accessible|FORBIDDEN|permission", err.Error(), name)
			refused = append(refused, name)
		}
	}
	return refused
}

func TestEveryPermissionIsNeededByACallAndNoCallNeedsAnother(t *testing.T) {
	wire := reflect.TypeFor[*github.Client]()
	for method := range wire.Methods() {
		require.Contains(t, calls, method.Name, "say what it takes to ask that")
	}
	require.Len(t, calls, wire.NumMethod())

	key := filepath.Join(t.TempDir(), "key.pem") // made once
	granted := read(t).DefaultPermissions
	require.Equal(t, standin.Registered().Permissions, granted, "the demo's App is this one")
	var without []string
	more := maps.Clone(granted)
	for name, permissions := range extra {
		without = append(without, name)
		maps.Copy(more, permissions)
	}
	require.ElementsMatch(t, without, asked(t, key, granted))
	require.Empty(t, asked(t, key, more), "what is optional is enough for its calls")
	for name, level := range granted {
		if name == "metadata" || name == "merge_queues" {
			continue // every App has it; an event comes with it
		}
		less := maps.Clone(granted)
		if delete(less, name); level == "write" {
			less[name] = "read"
		}
		require.Greater(t, len(asked(t, key, less)), len(without), "%s: %s is asked for, and nothing needs it", name, level)
	}
}
