package commands

// The arguments that many commands take.
var (
	aProfile  = Argument{Kind: Profile}
	aCluster  = Argument{Kind: Cluster, Required: true}
	aSpan     = Argument{Kind: Duration, Required: true}
	oneOfMine = Argument{Kind: Cluster} // optional: a person with one cluster need not name it
	aRequest  = Argument{Kind: Request, Required: true,
		Missing: "Say which one: the id of an approval, or the name or id of a cluster. `/ocp approvals` lists them."}
	whyNot = Argument{Kind: Reason, Required: true, Missing: "Add a reason: the person who asked is told."}
)

// The options that several commands take.
var (
	reason  = Option{"reason", "m", `"the demo is over"`, "why: a `sentence` for the audit trail and for anyone who asks later"}
	timeout = Option{"timeout", "", "90m", "maximum time to wait, e.g. 90m or 2h; after it the exit code is 124"}
	yes     = Option{"yes", "y", "", "do not ask for confirmation"}
	limit   = Option{"limit", "", "20", "show at most this `number`; 0 shows all"}
	runKind = Option{"run-kind", "", "kind", "the `kind` of the pipeline's run, with a Kubernetes service account's token; default: OCPCTL_RUN_KIND, or PipelineRun"}
	runName = Option{"run-name", "", "name", "the run's `name`; default: OCPCTL_RUN_NAME"}
	runUID  = Option{"run-uid", "", "uid", "the run's `uid`; default: OCPCTL_RUN_UID"}
)

// waitUntil is the option to wait for a command's result.
func waitUntil(goal string) Option {
	return Option{"wait", "w", "", "wait until it is " + goal + " and show progress; Ctrl-C stops only the waiting"}
}

// Table is every command that concerns a cluster, in the order in which help shows them.
var Table = []Command{
	{
		Name: "create", Permission: "create", Synonyms: []string{"new", "start", "launch", "make", "up", "provision"},
		Options: []Option{
			{"name", "n", "demo", "its `name`: lowercase letters, digits and dashes, at most 21 characters"},
			{"ttl", "t", "8h", "how long it lives: a `duration` such as 4h, 90m, 2d or a number of hours; default: the profile's"},
			{"region", "r", "us-east-2", "its `region`, one of the profile's; default: the profile's"},
			{"version", "v", "4.20.3", "its OpenShift `version`, one of the profile's; default: the profile's"},
			{"team", "", "platform", "the `team` that it belongs to; default: the repository's, or your only team"},
			{"off-hours", "", "", "the cluster sleeps outside working hours; --off-hours=false: it stays awake; default: as its profile says"},
			{"pool", "", "aws-ready", "the `pool` from which a waiting cluster is taken if one fits; default: any that is open to the team"},
			{"no-pool", "", "", "make a new cluster, and take none from a pool"},
			{"account", "", "aws-two", "the cloud `account` in which it is made, or exclusive for one without another cluster; default: of those that your team may use, the one with the most room"},
			{"reuse", "", "run", "in a pipeline, which existing cluster to take: `none`, run (the run's own in this slot) or pull-request"},
			{"slot", "", "e2e-1", "in a pipeline, the `name` of this one of the run's clusters; default: the only one"},
			{"lifetime", "", "job", "in a pipeline, what ends it besides its lifetime: the `run`, the job, or nothing (ttl)"},
			{"on-ready", "", "deployment", "in a workflow that does not wait: what starts another when it is ready or failed: a `kind` (deployment, dispatch, none)"},
			{"dry-run", "", "", "show each check, the price and when the cluster would be ready, without creating it"},
			{"as", "", "maya", "with --dry-run, for platform admins: what policy would say to this `person` of the catalogue, or principal's id"},
			{"as-role", "", "requester", "with --as, the `role` that they have in the team; default: as in their last request"},
			{"source", "", "pr_label", "with --as, the `entry-point` of the request; default: api"},
			{"repository", "", "acme/shop", "with --as, the `repository` of a request from GitHub"},
			{"permission", "", "write", "with --as, their `permission` on the repository; default: write"},
			{"fork", "", "", "with --as, the pull request comes from a fork"},
			{"workers", "", "3", "with --as, the `number` of workers to which it is scaled later"},
			{"addon", "", "name", "an add-on's `name`, one of the profile's; may be repeated; default: the profile's own"},
			{"base-domain", "", "domain", "the base `domain`, one of the profile's; default: the profile's"},
			{"cost-center", "", "name", "the cost center's `name`, one of the team's; default: its first"},
			{"environment", "", "environment", "the `environment`, one of the team's; default: its first"},
			{"from-file", "f", "request.yaml", "read the request from a JSON or YAML `file`; - is the standard input; flags take precedence"},
			{"idempotency-key", "", "key", "idempotency `key` of this request; repeating it returns the same cluster"},
			{"owner", "", "person", "the owner, a `person`; default: you"},
			{"platform", "", "platform", "the `platform`; it must be the profile's"},
			runKind, runName, runUID,
			{"ssh-key", "", "file", "a `file` with an SSH public key for the nodes, e.g. ~/.ssh/id_ed25519.pub"},
			{"tag", "", "key=value", "an additional tag, `key=value`; may be repeated"},
			timeout, waitUntil("ready"),
		},
		PullRequest: &Form{Common: true, Summary: "Create a cluster for this pull request", Arguments: []Argument{aProfile},
			Options: []string{"name", "ttl", "region", "version", "team", "off-hours", "pool", "no-pool", "account", "dry-run"}, Example: "create aws-standard --ttl 8h"},
		Slack: &Form{Common: true, Summary: "Create a cluster; alone, it opens a form", Arguments: []Argument{aProfile},
			Options: []string{"name", "ttl", "region", "version", "team", "off-hours", "pool", "no-pool", "account", "dry-run"}, Example: "create aws-standard --ttl 8h"},
		CLI: &Form{Summary: "Create a cluster", Arguments: []Argument{aProfile}, Options: []string{"name", "ttl", "region", "version", "team", "off-hours", "pool", "no-pool", "account", "reuse", "slot", "lifetime", "on-ready", "dry-run", "as", "as-role", "source", "repository", "permission", "fork", "workers", "addon", "base-domain", "cost-center", "environment", "from-file", "idempotency-key", "owner", "platform", "run-kind", "run-name", "run-uid", "ssh-key", "tag", "timeout", "wait"}},
	},
	{
		Name: "status", Permission: "see", Synonyms: []string{"show", "info", "get", "describe", "state"},
		PullRequest: &Form{Common: true, Summary: "Show the clusters of this pull request", Arguments: []Argument{aProfile}, Example: "status"},
		Slack:       &Form{Common: true, Summary: "Show the clusters that you may see, or one of them", Arguments: []Argument{oneOfMine}, Example: "status demo"},
		CLI:         &Form{Aliases: []string{"get"}, Summary: "Show a cluster's status, the reason and what happens next", Arguments: []Argument{aCluster}},
	},
	{
		Name: "extend", Permission: "extend", Synonyms: []string{"prolong", "longer", "renew", "ttl"},
		Options: []Option{
			{"until", "", "time", "the new end as a `time`, instead of a duration"},
		},
		PullRequest: &Form{Common: true, Summary: "Extend its lifetime, up to the profile's maximum", Arguments: []Argument{aSpan, aProfile}, Example: "extend 4h"},
		Slack:       &Form{Common: true, Summary: "Extend its lifetime, up to the profile's maximum", Arguments: []Argument{oneOfMine, aSpan}, Example: "extend demo 4h"},
		CLI:         &Form{Summary: "Extend a cluster's lifetime, up to the profile's maximum", Arguments: []Argument{aCluster, aSpan}, Options: []string{"until"}},
	},
	{
		Name: "destroy", Permission: "destroy", Synonyms: []string{"delete", "remove", "rm", "kill", "down", "teardown", "stop"}, Options: []Option{reason, timeout, waitUntil("destroyed"), yes},
		PullRequest: &Form{Common: true, Summary: "Destroy it now, without waiting for its end", Arguments: []Argument{aProfile}, Options: []string{"reason"}, Example: "destroy aws-standard"},
		Slack:       &Form{Common: true, Summary: "Destroy it now, without waiting for its end", Arguments: []Argument{oneOfMine}, Options: []string{"reason"}, Example: "destroy demo"},
		CLI:         &Form{Aliases: []string{"delete"}, Summary: "Destroy a cluster now", Arguments: []Argument{aCluster}, Options: []string{"reason", "timeout", "wait", "yes"}},
	},
	{
		Name: "kubeconfig", Permission: "kubeconfig", Synonyms: []string{"login", "credentials", "access", "config"},
		Options: []Option{
			{"role", "", "view", "what you may do in the cluster: the `role` view, edit or admin; default: the most that you may have"},
			{"keep-context", "", "", "with --merge: do not change the current context"},
			{"lifetime", "", "value", "how long it is valid, e.g. 30m or 12h, at least 10m; default: 8 hours, or what the cluster's profile allows"},
			{"link", "", "", "print a one-time link instead, which works only for you and for ten minutes"},
			{"merge", "", "", "add it to your kubeconfig (the first file in KUBECONFIG, or ~/.kube/config) as a context with the cluster's name, and make it current"},
			{"output", "f", "file", "write it to this `file`, which only you can read"},
			{"print", "", "", "print it even to a terminal or a log"},
			{"renew", "", "", "get a new token even if the last one is still valid"},
			{"static", "", "", "write the token into the kubeconfig, which then expires with it, instead of calling ocpctl for one; default in a pipeline (CI or OCPCTL_RUN_UID is set)"},
		},
		PullRequest: &Form{Summary: "Get a link to a kubeconfig of your own that works once, after you sign in; nothing secret is posted here", Arguments: []Argument{aProfile}, Options: []string{"role"}, Example: "kubeconfig"},
		Slack:       &Form{Common: true, Summary: "Get a link to a kubeconfig of your own that works once, after you sign in; only you see it", Arguments: []Argument{oneOfMine}, Options: []string{"role"}, Example: "kubeconfig demo"},
		CLI:         &Form{Summary: "Get a kubeconfig of a ready cluster, made for you", Arguments: []Argument{aCluster}, Options: []string{"role", "keep-context", "lifetime", "link", "merge", "output", "print", "renew", "static"}},
	},
	{
		Name: "console", Permission: "kubeconfig", Synonyms: []string{"open", "browse", "ui", "web"},
		Options: []Option{
			{"role", "", "view", "what you may do in the console: the `role` view, edit or admin; default: the most that you may have"},
			{"page", "", "", "open its ocpctl page instead: timeline, log, proof of destruction"},
			{"print", "", "", "only print the address"},
			{"renew", "", "", "get a new account even if you have one; it replaces the old one"},
		},
		PullRequest: &Form{Summary: "Get a link to its console with an account of your own; it works once, after you sign in", Arguments: []Argument{aProfile}, Options: []string{"role"}, Example: "console"},
		Slack:       &Form{Common: true, Summary: "Get a link to its console with an account of your own; it works once, after you sign in, and only you see it", Arguments: []Argument{oneOfMine}, Options: []string{"role"}, Example: "console demo"},
		CLI:         &Form{Name: "open", Aliases: []string{"console"}, Summary: "Open a cluster's console, with an account of your own, or its ocpctl page in a browser", Arguments: []Argument{aCluster}, Options: []string{"role", "page", "print", "renew"}},
	},
	{
		Name: "logs", Permission: "see", Synonyms: []string{"log", "tail", "output"},
		Options: []Option{
			{"lines", "n", "100", "the `number` of last lines to show; a comment or Slack shows 40 by default and at most 200"},
			{"attempt", "", "20", "with --bundle: the `number` of the attempt; default: the newest with a bundle"},
			{"bundle", "", "", "download the diagnostics of a failed installation as a .tar.gz file; it contains secrets of the cluster"},
			{"file", "", "file", "with --bundle: the `file` to write, replaced if it exists; default: the name that the server gives"},
			{"follow", "f", "", "follow the log until the job ends"},
			{"job", "", "job", "the `job`; default: the newest"},
		},
		PullRequest: &Form{Summary: "Show the last lines of its log", Arguments: []Argument{aProfile}, Options: []string{"lines"}, Example: "logs --lines 100"},
		Slack:       &Form{Summary: "Show the last lines of its log", Arguments: []Argument{oneOfMine}, Options: []string{"lines"}, Example: "logs demo --lines 100"},
		CLI:         &Form{Summary: "Show the log of a cluster's newest job, or of one of its jobs", Arguments: []Argument{aCluster}, Options: []string{"lines", "attempt", "bundle", "file", "follow", "job"}},
	},
	{
		Name: "list", Permission: "see", Synonyms: []string{"ls", "all", "clusters"},
		Options: []Option{
			{"team", "", "platform", "only those of a `team`"},
			{"profile", "", "aws-standard", "only those of a `profile`"},
			{"owner", "", "maya", "only those of a `person`: @person, or the name of the owner as the list shows it"},
			{"run", "", "https://github.com/acme/shop/actions/runs/7001", "only those of a pipeline's `run`, by its id, its address, or a PipelineRun's uid"},
			{"all", "a", "", "include clusters that are gone"},
			limit,
			{"name", "", "name", "filter by the start of the `name`"},
			{"platform", "", "platform", "filter by `platform`: aws or ibmcloud"},
			{"status", "", "statuses", "filter by `statuses`: PENDING, CREATING, READY, DESTROYING, DESTROYED, FAILED"},
			{"watch", "w", "", "then print a line for each change, until Ctrl-C"},
		},
		PullRequest: &Form{Summary: "Show all clusters of this pull request", Example: "list"},
		Slack:       &Form{Common: true, Summary: "List who has which cluster, until when, and what it has cost", Arguments: []Argument{{Kind: Filter}}, Options: []string{"team", "profile", "owner"}, Example: "list owner:me ends:<2h"},
		CLI:         &Form{Aliases: []string{"ls"}, Summary: "List the clusters you may see, newest first", Arguments: []Argument{{Kind: Filter}}, Options: []string{"run", "all", "limit", "name", "owner", "platform", "profile", "status", "team", "watch"}},
	},
	{
		Name: "scale", Permission: "scale", Synonyms: []string{"workers", "resize"},
		Options: []Option{
			{"replicas", "r", "4", "the `number` of workers"},
			timeout, waitUntil("scaled"),
		},
		PullRequest: &Form{Summary: "Change the number of its workers, within the profile's bounds", Arguments: []Argument{{Kind: Number, Required: true}, aProfile}, Options: []string{"replicas"}, Example: "scale 4"},
		Slack:       &Form{Summary: "Change the number of its workers, within the profile's bounds", Arguments: []Argument{oneOfMine, {Kind: Number, Required: true}}, Options: []string{"replicas"}, Example: "scale demo 4"},
		CLI:         &Form{Name: "scale-workers", Aliases: []string{"scale"}, Summary: "Change the number of workers of a ready cluster", Arguments: []Argument{aCluster}, Options: []string{"replicas", "timeout", "wait"}, Needs: []string{"replicas"}},
	},
	{
		Name: "refresh", Permission: "refresh", Synonyms: []string{"reapply", "addons", "add-ons", "configure"},
		Options:     []Option{timeout, waitUntil("refreshed")},
		PullRequest: &Form{Summary: "Apply its add-ons again", Arguments: []Argument{aProfile}, Example: "refresh"},
		Slack:       &Form{Summary: "Apply its add-ons again", Arguments: []Argument{oneOfMine}, Example: "refresh demo"},
		CLI:         &Form{Summary: "Apply a ready cluster's add-ons again", Arguments: []Argument{aCluster}, Options: []string{"timeout", "wait"}},
	},
	{
		Name: "sleep", Permission: "sleep", Synonyms: []string{"hibernate", "pause", "suspend", "nap"},
		Options: []Option{
			{"for", "", "12h", "wake it after this `duration`; default: it sleeps until somebody wakes it"}, reason,
			timeout,
			{"until", "", "time", "wake it at this `time`, instead of --for"},
			waitUntil("asleep"),
		},
		PullRequest: &Form{Summary: "Put it to sleep: it costs less, and cannot be used until it is awake", Arguments: []Argument{aProfile}, Options: []string{"for", "reason"}, Example: "sleep --for 12h"},
		Slack:       &Form{Summary: "Put it to sleep: it costs less, and cannot be used until it is awake", Arguments: []Argument{oneOfMine}, Options: []string{"for", "reason"}, Example: "sleep demo --for 12h"},
		CLI:         &Form{Summary: "Put a ready cluster to sleep: it costs less, and cannot be used until it is awake", Arguments: []Argument{aCluster}, Options: []string{"for", "reason", "timeout", "until", "wait"}},
	},
	{
		Name: "wake", Permission: "sleep", Synonyms: []string{"resume", "wakeup", "unpause", "wake-up"},
		Options:     []Option{timeout, waitUntil("ready")},
		PullRequest: &Form{Summary: "Wake it", Arguments: []Argument{aProfile}, Example: "wake"},
		Slack:       &Form{Summary: "Wake it", Arguments: []Argument{oneOfMine}, Example: "wake demo"},
		CLI:         &Form{Summary: "Wake a cluster", Arguments: []Argument{aCluster}, Options: []string{"timeout", "wait"}},
	},
	{
		Name: "hold", Permission: "hold", Synonyms: []string{"keep", "pin", "freeze"}, Options: []Option{
			reason,
			{"until", "", "time", "hold until this `time`, instead of a duration from now"},
		},
		PullRequest: &Form{Summary: "Keep the cluster for that long even if the pull request closes, up to the profile's maximum; hold tonight keeps it awake until the next working hours", Arguments: []Argument{aSpan, aProfile}, Options: []string{"reason"}, Example: `hold 8h --reason "a demo on Friday"`},
		Slack:       &Form{Summary: "Keep the cluster for that long even if its pull request closes, up to the profile's maximum; hold tonight keeps it awake until the next working hours", Arguments: []Argument{oneOfMine, aSpan}, Options: []string{"reason"}, Example: `hold demo 8h --reason "a demo on Friday"`},
		CLI:         &Form{Summary: "Keep a cluster for a while even if its pull request closes, up to the profile's maximum; hold NAME tonight keeps it awake until the next working hours", Arguments: []Argument{aCluster, aSpan}, Options: []string{"reason", "until"}},
	},
	{
		Name: "retry", Permission: "retry", Synonyms: []string{"again", "rerun", "restart"}, Options: []Option{reason},
		PullRequest: &Form{Summary: "Try a blocked teardown again, or create a cluster again that failed or is gone", Arguments: []Argument{aProfile}, Example: "retry"},
		Slack:       &Form{Summary: "Try a blocked teardown again, or create a cluster again that failed or is gone", Arguments: []Argument{oneOfMine}, Options: []string{"reason"}, Example: "retry demo"},
		CLI:         &Form{Summary: "Create a cluster again that failed or is gone, or start the next attempt of a teardown now", Arguments: []Argument{aCluster}, Options: []string{"reason"}},
	},
	{
		Name: "share", Permission: "share", Synonyms: []string{"grant", "invite"},
		Options: []Option{
			{"team", "", "platform", "the `team` to share it with"},
			{"with", "", "github:maya", "the `principal` to share it with: a person or workload"},
			{"role", "", "edit", "what they may do in the cluster, with kubeconfigs of their own: the `role` view, edit or admin; without it they only see the cluster here"},
			{"access", "", "use", "the `right` they get here: see, or use, which includes kubeconfigs; default: see, or use with --role"},
		},
		PullRequest: &Form{Summary: "Share it with another team, person or workload", Arguments: []Argument{aProfile, {Kind: Grantee, Required: true}}, Options: []string{"team", "with", "role"}, Example: "share --team platform"},
		Slack:       &Form{Summary: "Share it with a person, a user group or another team", Arguments: []Argument{oneOfMine, {Kind: Grantee, Required: true}}, Options: []string{"team", "with", "role"}, Example: "share demo --team platform"},
		CLI:         &Form{Summary: "Share a cluster with another team or principal", Arguments: []Argument{aCluster}, Options: []string{"team", "with", "role", "access"}},
	},
	{
		Name: "use", Permission: "use", Synonyms: []string{"lock", "acquire", "turn"},
		Options: []Option{
			runKind, runName, runUID,
			{"timeout", "", "90m", "how long to wait, a `duration`"},
			{"wait", "", "", "wait until the turn is granted"},
		},
		CLI: &Form{Summary: "Ask for your pipeline run's turn on a cluster that several runs share", Arguments: []Argument{aCluster}, Options: []string{"run-kind", "run-name", "run-uid", "timeout", "wait"}},
	},
	{
		Name: "release", Permission: "use", Synonyms: []string{"unlock", "unuse"},
		Options: []Option{
			runKind, runName, runUID,
			{"use", "", "id", "the turn's `id`; default: those of this run and job"},
		},
		CLI: &Form{Summary: "End your pipeline run's turn on a cluster, so that the next run gets it", Arguments: []Argument{aCluster}, Options: []string{"run-kind", "run-name", "run-uid", "use"}},
	},
	{
		Name: "tests", Permission: "see", Synonyms: []string{"results", "junit", "failures"},
		CLI: &Form{Summary: "Show the results of the tests that pipelines ran on a cluster", Arguments: []Argument{aCluster}},
	},
	{
		Name: "approvals", Permission: "approve",
		Options: []Option{
			{"all", "a", "", "include approvals in every state"},
			{"cluster", "", "cluster", "filter by `cluster`"},
			limit,
			{"state", "", "state", "filter by `state`: pending, approved, refused, expired, void or used"},
		},
		Slack: &Form{Summary: "List the approvals that you may see", Example: "approvals"},
		CLI:   &Form{Summary: "List pending approvals, or show one with its votes by its id or its cluster's name", Arguments: []Argument{{Kind: Request}}, Options: []string{"all", "cluster", "limit", "state"}},
	},
	{
		Name: "approve", Permission: "approve", Synonyms: []string{"allow", "accept", "agree", "lgtm", "yes"}, Options: []Option{reason},
		PullRequest: &Form{Summary: "Approve the clusters that wait for approval here, at the named commit or else the one that was shown", Arguments: []Argument{{Kind: Commit}, aProfile}, Example: "approve 6dcb09b5b578"},
		Slack:       &Form{Summary: "Approve exactly what was requested", Arguments: []Argument{aRequest, {Kind: Reason}}, Options: []string{"reason"}, Example: "approve demo"},
		CLI:         &Form{Summary: "Approve a request, by the approval's id or its cluster's name", Arguments: []Argument{{Kind: Request, Required: true}}, Options: []string{"reason"}},
	},
	{
		Name: "refuse", Permission: "approve", Synonyms: []string{"deny", "reject", "decline", "no"}, Options: []Option{reason},
		PullRequest: &Form{Summary: "Refuse the clusters that wait for approval here, with a reason", Arguments: []Argument{aProfile, whyNot}, Options: []string{"reason"}, Example: "refuse it needs no cluster of its own"},
		Slack:       &Form{Summary: "Refuse it: the cluster is not created", Arguments: []Argument{aRequest, whyNot}, Options: []string{"reason"}, Example: "refuse demo it needs no cluster of its own"},
		CLI:         &Form{Summary: "Refuse a request, by the approval's id or its cluster's name; one refusal is final", Arguments: []Argument{{Kind: Request, Required: true}}, Options: []string{"reason"}},
	},
	{
		Name: "unhold", Permission: "hold", Synonyms: []string{"unkeep", "unpin"},
		Slack: &Form{Summary: "Remove the hold; the normal end applies again", Arguments: []Argument{oneOfMine}, Example: "unhold demo"},
		CLI:   &Form{Summary: "Remove the hold; the normal end applies again", Arguments: []Argument{aCluster}},
	},
	{
		Name: "transfer", Permission: "transfer", Synonyms: []string{"move", "give"}, Options: []Option{
			{"team", "", "platform", "the new `team`"}, reason,
			{"owner", "", "person", "the new owner, a `person`; default: you"},
		},
		Slack: &Form{Summary: "Offer it to a person, who has to accept it, or give it to another of your teams", Arguments: []Argument{oneOfMine, {Kind: Receiver, Required: true}}, Options: []string{"team", "reason"}, Example: "transfer demo --team platform"},
		CLI:   &Form{Summary: "Transfer a cluster to another of your teams", Arguments: []Argument{aCluster}, Options: []string{"team", "reason", "owner"}, Needs: []string{"team"}},
	},
	{
		Name: "unshare", Permission: "share", Synonyms: []string{"revoke"},
		Options: []Option{
			{"team", "", "platform", "the `team` to stop sharing it with"},
			{"with", "", "github:maya", "the `principal` to stop sharing it with: a person or workload"},
		},
		Slack: &Form{Summary: "Stop sharing it with a person, a user group or a team", Arguments: []Argument{oneOfMine, {Kind: Grantee, Required: true}}, Options: []string{"team", "with"}, Example: "unshare demo --team platform"},
		CLI:   &Form{Summary: "Stop sharing a cluster with a team or principal", Arguments: []Argument{aCluster}, Options: []string{"team", "with"}},
	},
	{
		Name: "abandon", Permission: "abandon", Options: []Option{reason, yes},
		CLI: &Form{Summary: "Mark a blocked teardown as abandoned (platform admins)", Arguments: []Argument{aCluster}, Options: []string{"reason", "yes"}},
	},
	{
		Name: "break-glass", Permission: "break-glass", Options: []Option{
			reason,
			{"kubeconfig", "", "", "the installer's kubeconfig instead of the kubeadmin password"},
			{"link", "", "", "print the link after the approval"},
		},
		CLI: &Form{Summary: "Request the kubeadmin password or the installer's kubeconfig; another platform admin must approve", Arguments: []Argument{aCluster}, Options: []string{"reason", "kubeconfig", "link"}},
	},
	{
		Name: "explain", Permission: "see", Synonyms: []string{"why", "reasons"},
		PullRequest: &Form{Summary: "Explain its status, and when and why it ends", Arguments: []Argument{aProfile}, Example: "explain"},
		Slack:       &Form{Summary: "Explain its status, when and why it ends, and what you can do", Arguments: []Argument{oneOfMine}, Example: "explain demo"},
		CLI:         &Form{Summary: "Explain a cluster's status, when and why it ends, and what you can do", Arguments: []Argument{aCluster}},
	},
	{
		Name: "notify", Permission: "see", Synonyms: []string{"subscribe", "unsubscribe", "notifications", "watch", "alert"},
		Options: []Option{
			{"team", "", "platform", "only of the clusters of a `team`"},
			{"repo", "", "acme/shop", "only of the clusters of a `repository`: owner/name"},
			{"off", "", "", "stop; without events, stop all of them"},
		},
		Slack: &Form{Summary: "Post what happens to clusters in a channel; alone, it lists what is posted there", Arguments: []Argument{{Kind: Channel}, {Kind: Events}},
			Options: []string{"team", "repo", "off"}, Example: "notify ready,failed --team platform"},
	},
	{
		Name: "link", Synonyms: []string{"signin", "connect", "account"},
		PullRequest: &Form{Summary: "Link this account to you, so that you have your own permissions here; type it again with the code that the page shows", Arguments: []Argument{{Kind: LinkCode}}, Example: "link"},
		Slack:       &Form{Summary: "Link this account to you, so that you have your own permissions here; type it again with the code that the page shows", Arguments: []Argument{{Kind: LinkCode}}, Example: "link"},
	},
	{
		Name: "unlink", Synonyms: []string{"disconnect", "signout", "logout"},
		Slack: &Form{Summary: "Undo the link between this account and you", Example: "unlink"},
	},
	{
		Name: "help", Synonyms: []string{"?", "usage", "commands", "--help", "-h"},
		PullRequest: &Form{Common: true, Summary: "Show this list, or all about one command", Arguments: []Argument{{Kind: Topic}}, Example: "help create"},
		Slack:       &Form{Common: true, Summary: "Show this list, or all about one command", Arguments: []Argument{{Kind: Topic}}, Example: "help create"},
	},
}
