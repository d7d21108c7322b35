package ibmcloud

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/IBM/platform-services-go-sdk/resourcemanagerv2"

	"github.com/ocpctl/ocpctl/internal/names"
	"github.com/ocpctl/ocpctl/runner/cloud"
)

// Prepare makes the cluster's resource group under the recorded name, unless it is there, and returns its id when the list of groups shows
// it: the installer and ccoctl look it up there.
func (c *Client) Prepare(ctx context.Context, t cloud.Target, name string) (groupID string, err error) {
	account, err := c.requireAccount(ctx, t)
	if err != nil {
		return "", err
	}
	found, err := c.groupsCalled(ctx, account, name)
	if err != nil || len(found) > 0 {
		return idOf(found), err
	}
	callCtx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	_, createErr := resultOrRefusal(c.manager.CreateResourceGroupWithContext(callCtx, &resourcemanagerv2.CreateResourceGroupOptions{Name: &name, AccountID: &account}))
	if createErr != nil {
		createErr = fmt.Errorf("create resource group %s: %w", name, createErr)
	}
	if nameTaken(createErr) {
		createErr = nil // it exists, and is not listed yet
	}
	if code := statusOf(createErr); code >= 400 && code < 500 {
		return "", createErr // refused; otherwise it may exist, whatever the response was
	}
	ctx, cancel = context.WithTimeout(ctx, c.pace.settle)
	defer cancel()
	for looks := c.newLooks(); ; {
		found, err := c.groupsCalled(ctx, account, name)
		if err == nil && len(found) > 0 {
			return idOf(found), nil
		}
		if !looks.waitForNext(ctx) {
			return "", errors.Join(createErr, err, fmt.Errorf("resource group %s does not appear in the list of groups", name))
		}
	}
}

// LimitRoles changes nothing: ccoctl gives the operators' service IDs access to the cluster's own resource group, and nodes have no identity.
func (c *Client) LimitRoles(context.Context, cloud.Target, []string, string) error { return nil }

// nameTaken reports that a resource group was not created because there is one of its name. IBM Cloud answered this with 400
// (IBM-Cloud/ibm-cloud-cli-release#106).
func nameTaken(err error) bool {
	var r *refusal
	return errors.As(err, &r) && (r.status == http.StatusConflict || r.code == "RESOURCE_GROUP_NAME_UNIQUENESS")
}

// idOf is the id of the only group with a name.
func idOf(found []group) string {
	if len(found) == 0 {
		return ""
	}
	return found[0].ID
}

// looks are the looks at something that changes: the first ones soon after each other, as much is over at once, later ones at the client's
// pace.
type looks struct{ next, most time.Duration }

func (c *Client) newLooks() *looks { return &looks{c.pace.poll / 16, c.pace.poll} }

// waitForNext waits until the next look. It reports false if the context ended.
func (l *looks) waitForNext(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(l.next):
		l.next = min(2*l.next, l.most)
		return true
	}
}

// requireAccount returns the account of the credentials, if it is the cluster's.
func (c *Client) requireAccount(ctx context.Context, t cloud.Target) (string, error) {
	account, err := c.Account(ctx)
	if err != nil {
		return "", err
	}
	recorded := appendNew(nil, t.Account)
	for _, id := range t.Identities {
		recorded = appendNew(recorded, id.Account)
	}
	for _, each := range recorded {
		if each != account {
			return "", fmt.Errorf("the credentials belong to account %s, but the cluster belongs to account %s", account, each)
		}
	}
	return account, nil
}

// Found returns the account and the instance with the base domain's zone, in the service that the cluster uses. Two of them are an error: a
// destroyer would look in one.
func (c *Client) Found(ctx context.Context, t cloud.Target) (names.Found, error) {
	account, err := c.requireAccount(ctx, t)
	if err != nil {
		return names.Found{}, err
	}
	zones, err := c.domainZones(ctx, t)
	if err != nil {
		return names.Found{}, err
	}
	found := names.Found{Account: account}
	switch {
	case len(zones.active) > 1:
		return names.Found{}, fmt.Errorf("%d instances of %s have a zone for %s", len(zones.active), zones.service, t.BaseDomain)
	case len(zones.active) == 0:
	case zones.private:
		found.DNSInstanceID = zones.active[0].instance
	default:
		found.CISInstanceCRN = zones.active[0].instance
	}
	return found, nil
}
