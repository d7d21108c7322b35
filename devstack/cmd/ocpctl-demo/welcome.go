package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/devstack"
	"github.com/ocpctl/ocpctl/devstack/kubernetes"
	"github.com/ocpctl/ocpctl/devstack/pick"
	"github.com/ocpctl/ocpctl/devstack/saml"
	"github.com/ocpctl/ocpctl/internal/duration"
)

// welcome tells a newcomer what is real in the demo, where to look and what to do first.
func welcome(w io.Writer, h *devstack.Stack, took time.Duration) {
	tokens := filepath.Join(h.Dir, "tokens")
	fmt.Fprintf(w, `
ocpctl is up after %.1f s.
%s
No cluster is real, and nothing costs money.
ocpctl's server and runners, PostgreSQL and S3 run as they do in production.

  1. Open %s/playground and put the label ocp/aws-minimal-test on a pull request, ocp/ibm-minimal-test for IBM Cloud,
     ocp/namespace for a namespace on a shared cluster, or ocp/hcp-small for a cluster with a hosted control plane.
  2. Watch the bot's comment until the cluster is ready, about ten seconds. Then type /ocp help below it.
  3. Close the pull request: %s later the cluster is destroyed, and the comment shows the proof.
  4. Open %s/playground, type /ocp create as maya in #clusters, and fill in the form. The cluster's message shows the
     progress, and its thread what happened. With /ocp create aws-minimal-test --ttl 61m a warning with a button that extends
     the cluster comes after a minute.
  5. Open %s/playground/runs and push a commit to a pull request. Its workflow builds, gets a cluster, and tests on it.
     The cluster is destroyed as soon as the run is over, even if you cancel it.

  playground   %s/playground   (acme/shop with pull requests #41 to #49, acme/api, and acme/ledger, where the App is not installed)
  Slack        %s/playground   (type /ocp as maya, rob or ada; will has to link his account first: /ocp link)
  both         %s/playground/beside   (a pull request and Slack in two columns)
  pages, API   %s   (sign in as %s)
  consoles     a browser in which the clusters' names lead here, e.g. to press Open console on a cluster's page:
               chromium --user-data-dir=%s --host-resolver-rules='MAP *.example.com 127.0.0.1:%d' --ignore-certificate-errors %s
  webhooks     %s/webhooks/github and /webhooks/slack
  AWS, S3      http://127.0.0.1:%d (stand-in, account %s), http://127.0.0.1:%d
  IBM Cloud    http://127.0.0.1:%d (stand-in, account %s); what is there: http://127.0.0.1:%d/_standin/resources
  database     psql -h 127.0.0.1 -p %d -U postgres   (the runbooks' statements can be pasted)

  tokens       %s/{requester,admin,auditor,github-actions,kubernetes}.jwt
  secrets      GitHub webhook: %s   Slack signing: %s
  time         a TTL hour lasts %s, the grace period after a close %s, a step of the installer %s
  settings     OCPCTL_DEMO_HOUR, OCPCTL_DEMO_GRACE, OCPCTL_DEMO_PACE, and OCPCTL_DEMO_PORT for the first of the ports

  curl -H "Authorization: Bearer $(cat %s)" %s/api/v1/clusters

The command line, as the IAM user %s of the stand-in AWS:

  export PATH=%s:$PATH OCPCTL_CONFIG=%s \
    AWS_ENDPOINT_URL_STS=http://127.0.0.1:%d AWS_ACCESS_KEY_ID=%s AWS_SECRET_ACCESS_KEY=%s
  ocpctl login --server %s --auth aws
  ocpctl create aws-standard --name mine --ttl 24h --wait
  ocpctl scale-workers mine --replicas 0 --wait; ocpctl logs mine; ocpctl destroy mine --wait

Try permissions and limits:

  an approval  ocpctl create aws-standard --name long --ttl 101h    then approve it as will at %s/approvals,
               with a platform admin's token: OCPCTL_TOKEN=$(cat %s) ocpctl approve long
               or as will in Slack: /ocp link, once, then /ocp approve long
  a quota      put creating: 1 for every team into %s/quotas/quotas.yaml. It takes effect within seconds:
               add three labels, and one cluster is created while two show their position in the queue. Mistakes are shown at %s/policy
  a hold       ocpctl hold pr41-shop 4h --reason "debugging"    then close pull request #41

Check everything that the server depends on:

  env $(cat %s) %s doctor -config %s

Break something, and read what ocpctl says:

  curl -d '{"code": "L-F678F1CE", "value": 0}' http://127.0.0.1:%d/_standin/limit       the VPC quota is 0; -1 removes it
  curl -d '{"account": "999900001111"}' http://127.0.0.1:%d/_standin/account          a wrong account; %s is the right one
  echo '{"create": {"failAt": "bootstrap"}}' > %s        the next installs fail; {} ends it

Ctrl-C stops everything, make demo continues where it stopped, and make clean deletes its state.
`,
		took.Seconds(), nameStandIns(h.Real != ""), h.GitHub.URL(), duration.Format(h.Grace),
		h.Slack.URL(), h.GitHub.URL(), h.GitHub.URL(), h.Slack.URL(), h.Slack.URL(), h.PrivateURL(), people(), filepath.Join(h.Dir, "chromium"), h.Ports.Login, h.PrivateURL(), h.PublicURL(),
		h.Ports.AWS, devstack.Account, h.Ports.S3, h.Ports.IBMCloud, devstack.IBMAccount, h.Ports.IBMCloud,
		h.Ports.Postgres, tokens, devstack.WebhookSecret, devstack.SlackSecret, duration.Format(h.Hour), duration.Format(h.Grace), h.Pace,
		filepath.Join(tokens, "requester.jwt"), h.PrivateURL(),
		devstack.CLIUser, h.Bin, filepath.Join(h.Dir, "ocpctl.yaml"), h.Ports.AWS, devstack.CLIKey, devstack.CLISecret, h.PrivateURL(),
		h.PrivateURL(), filepath.Join(tokens, "admin.jwt"), filepath.Join(h.Dir, "catalogue"), h.PrivateURL(),
		filepath.Join(h.Dir, "server.env"), filepath.Join(h.Bin, "ocpctl-server"), filepath.Join(h.Dir, "server.yaml"),
		h.Ports.AWS, h.Ports.AWS, devstack.Account, h.Faults())
	if h.Kube != nil {
		fmt.Fprintf(w, kubernetesToo, h.Kube.Kubeconfig(), kubernetes.Namespace)
	}
}

// nameStandIns says what is not real in the demo, with the real installer or without.
func nameStandIns(withInstaller bool) string {
	if withInstaller {
		return "GitHub, Slack and the cloud are stand-ins on this machine. openshift-install and ccoctl are real, except where they need machines."
	}
	return "GitHub, Slack, the cloud and openshift-install are stand-ins on this machine."
}

// kubernetesToo is printed with -kubernetes.
const kubernetesToo = `
Runners are Jobs. API server, controllers, scheduler and kubelet are real; a stand-in for containerd runs pods as processes of this machine.

  export KUBECONFIG=%s
  kubectl -n %s get jobs,pods --watch
`

// people lists those who can sign in to the pages, with their passwords.
func people() string {
	all := pick.Map(saml.People, func(p saml.Person) string {
		return fmt.Sprintf("%s/%s (%s)", p.Login, p.Password(), strings.Join(p.Groups, ", "))
	})
	return strings.Join(all, ", ")
}
