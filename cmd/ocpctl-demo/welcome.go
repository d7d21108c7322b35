package main

import (
	"fmt"
	"io"
	"time"

	"github.com/ocpctl/ocpctl/internal/house"
)

// welcome tells a newcomer where to look and what to do first.
func welcome(w io.Writer, h *house.House, took time.Duration) {
	fmt.Fprintf(w, `
ocpctl is up after %.1f s. GitHub, the cloud and the installer are stand-ins on this machine; the rest is the real thing.

  1. Open  %s/playground  and put the label ocp/aws-minimal-test on a pull request.
  2. Watch the bot's comment become a cluster; type /ocp help below it; close the pull request and watch it go.

  pages, API     %s   (sign in with a token from %s)
  webhooks       %s/webhooks/github  /webhooks/slack
  GitHub         %s   (stand-in: organisation acme, repository acme/shop, pull requests #41 to #49)
  S3             http://127.0.0.1:%d   AWS http://127.0.0.1:%d   (stand-in, account %s)
  tokens         %s/tokens/{requester,admin,auditor}.jwt

  demo secrets   webhook %s   Slack %s
  time           a TTL hour lasts %s, the grace after a close %s, an installer's mark %s
                 (OCPCTL_DEMO_HOUR, OCPCTL_DEMO_GRACE, OCPCTL_DEMO_PACE; ports: OCPCTL_DEMO_PORT)

  curl -H "Authorization: Bearer $(cat %s/tokens/requester.jwt)" %s/api/v1/clusters

Ctrl-C stops everything; make demo goes on where it was; make clean forgets.
`,
		took.Seconds(), h.GitHub.URL(), h.PrivateURL(), h.Dir+"/tokens", h.PublicURL(), h.GitHub.URL(),
		h.Ports.S3, h.Ports.AWS, house.Account, h.Dir, house.WebhookSecret, house.SlackSecret,
		h.Hour, h.Grace, h.Pace, h.Dir, h.PrivateURL())
}
