// Package console keeps the accounts with which readers open a cluster's console: one user of its OAuth for each access, whose password is in the
// htpasswd file of an identity provider of ours, or who signs in through the server, the cluster's OpenID provider. It changes nothing of other
// identity providers, and it never logs a password.
package console

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"golang.org/x/crypto/bcrypt"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/names"
	"github.com/ocpctl/ocpctl/internal/secret"
)

// Cluster is the cluster's API. Get returns the JSON of oc get, empty if there is no such object; Run runs oc with an input.
type Cluster interface {
	Get(ctx context.Context, args ...string) (secret.Text, error)
	Run(ctx context.Context, input []byte, args ...string) error
}

// Changer brings a cluster's accounts into agreement with what the server says.
type Changer struct {
	Cluster  Cluster
	Roles    func(role string) []string // cluster roles of a role in the whole cluster
	Redact   func(...secret.Text)       // is told each password before anything else
	Poll     time.Duration              // between two looks at the OAuth server
	Patience time.Duration              // how long it may take to read a changed file; 0: it is not waited for
}

// Changed is what became of the accounts, by the ids of their accesses.
type Changed struct {
	Passwords map[string]secret.Text // of those that were made
	Removed   map[string]bool        // those that are gone
	Trouble   map[string]error       // why the others are not
}

const (
	configNamespace = "openshift-config"         // where OAuth's files are (OpenShift's documentation, "Configuring an htpasswd identity provider")
	loginNamespace  = "openshift-authentication" // where the OAuth server is
	fileSecret      = "ocpctl-console"
	clientSecret    = "ocpctl-openid"     // of the cluster at the server, and the name of the ConfigMap with the certificates that prove the server
	label           = "ocpctl.io/console" // of a binding; its value is the account
	roleLabel       = "ocpctl.io/access-role"

	users      = "users.user.openshift.io"
	identities = "identities.user.openshift.io"
	tokens     = "oauthaccesstokens.oauth.openshift.io"
	codes      = "oauthauthorizetokens.oauth.openshift.io"
	bindings   = "clusterrolebindings.rbac.authorization.k8s.io"
	operators  = "clusteroperators.config.openshift.io"

	// A file without any line is no htpasswd file for the operator, and the OAuth server ignores a line without a colon.
	firstLine = "# ocpctl makes and removes the accounts in this file"
)

// errUnread is why an account is neither made nor removed yet.
var errUnread = errors.New("the cluster's OAuth server has not read the changed accounts yet")

// Change makes the accounts in work.Give and removes every account of ours that is neither there nor in work.Keep. Rights end first, then sessions.
// The OAuth server reads its file late: who is removed may sign in until then, without any right, and sessions are ended once more.
func (c *Changer) Change(ctx context.Context, work contract.ConsoleWork) Changed {
	out := Changed{Passwords: map[string]secret.Text{}, Removed: map[string]bool{}, Trouble: map[string]error{}}
	if len(work.Give)+len(work.Take)+len(work.Keep) == 0 {
		return out
	}
	err := c.changeAccounts(ctx, work, out.Passwords)
	for _, one := range work.Give {
		if err != nil {
			delete(out.Passwords, one.ID)
			out.Trouble[one.ID] = err
		}
	}
	gone := len(work.Take) > 0 && err == nil
	if gone {
		err = c.checkGone(ctx, work.Take)
		gone = err == nil
	}
	for _, one := range work.Take {
		if out.Removed[one.ID] = gone; !gone {
			out.Trouble[one.ID] = err
		}
	}
	return out
}

func (c *Changer) changeAccounts(ctx context.Context, work contract.ConsoleWork, passwords map[string]secret.Text) error {
	file, err := c.readFile(ctx)
	if err != nil {
		return err
	}
	lines := map[string]string{}
	for _, one := range work.Keep {
		if hash, there := file[one.Account]; there {
			lines[one.Account] = hash
		}
	}
	for _, one := range work.Give {
		if one.OpenID {
			continue
		}
		if lines[one.Account], err = c.makePassword(one.ID, passwords); err != nil {
			return err
		}
	}
	next := wanted{file: formatFile(lines), changed: !maps.Equal(lines, file)}
	if next.before, err = c.readServer(ctx); err != nil {
		return err
	}
	if err := c.configureServer(ctx, &next, len(lines) > 0, work); err != nil {
		return err
	}
	gone := c.listGone(file, work)
	err = cmp.Or(c.unbindAccounts(ctx, gone), c.bindAccounts(ctx, work.Give), c.endSessions(ctx, gone))
	if err == nil {
		err = c.awaitServer(ctx, next)
	}
	if err == nil && next.changed && len(gone) > 0 {
		err = c.endSessions(ctx, gone)
	}
	return err
}

// configureServer writes what the OAuth server reads: our htpasswd file, and what it needs to sign readers in through the server.
func (c *Changer) configureServer(ctx context.Context, next *wanted, file bool, work contract.ConsoleWork) (err error) {
	if next.changed {
		if err := c.writeFile(ctx, next.file); err != nil {
			return err
		}
	}
	var providers []object
	if file {
		providers = append(providers, newFileProvider())
	}
	if work.OpenID != nil {
		c.Redact(secret.New(work.OpenID.Secret))
		if next.restarts, err = c.writeClient(ctx, *work.OpenID); err != nil {
			return err
		}
		next.client = work.OpenID.Secret
		providers = append(providers, newOpenIDProvider(*work.OpenID))
	} else if slices.ContainsFunc(work.Give, func(a contract.Access) bool { return a.OpenID }) {
		return errors.New("the server does not say how this cluster signs readers in: console.sign_in was changed meanwhile")
	}
	if len(providers) == 0 {
		return nil
	}
	added, err := c.addProviders(ctx, providers)
	next.restarts = next.restarts || added
	return err
}

// listGone returns the accounts that are not to stay: those to remove, and those of the file that no row names.
func (c *Changer) listGone(file map[string]string, work contract.ConsoleWork) []string {
	gone := map[string]bool{}
	for account := range file {
		gone[account] = true
	}
	for _, one := range work.Take {
		gone[one.Account] = true
	}
	for _, one := range slices.Concat(work.Keep, work.Give) {
		delete(gone, one.Account)
	}
	return slices.Sorted(maps.Keys(gone))
}

// makePassword makes a password of 192 bits, and returns its hash for the file.
func (c *Changer) makePassword(access string, passwords map[string]secret.Text) (hash string, err error) {
	raw := make([]byte, 24)
	if _, err := rand.Read(raw); err != nil {
		return "", fmt.Errorf("make a password: %w", err)
	}
	password := secret.New(base64.RawURLEncoding.EncodeToString(raw))
	c.Redact(password)
	hashed, err := bcrypt.GenerateFromPassword([]byte(password.Reveal()), bcrypt.DefaultCost)
	if err != nil {
		return "", fmt.Errorf("hash a password: %w", err)
	}
	passwords[access] = password
	return string(hashed), nil
}

// object is a part of a Kubernetes object.
type object map[string]any

// readFile returns the hashes in our htpasswd file by account. Without the file there are none.
func (c *Changer) readFile(ctx context.Context) (map[string]string, error) {
	raw, err := c.readData(ctx, "htpasswd", fileSecret, configNamespace)
	if err != nil {
		return nil, err
	}
	lines := map[string]string{}
	for line := range strings.Lines(raw) {
		if account, hash, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			lines[account] = hash
		}
	}
	return lines, nil
}

// readData returns what a Secret has under a key; empty: nothing.
func (c *Changer) readData(ctx context.Context, key, name, namespace string) (string, error) {
	raw, err := c.Cluster.Get(ctx, "secret", name, "-n", namespace)
	if err != nil || raw.Empty() {
		return "", err
	}
	var s struct{ Data map[string][]byte }
	if json.Unmarshal([]byte(raw.Reveal()), &s) != nil {
		return "", fmt.Errorf("oc get secret %s: the answer is no Secret", name) // without the answer
	}
	return string(s.Data[key]), nil
}

func formatFile(lines map[string]string) string {
	var b strings.Builder
	b.WriteString(firstLine + "\n")
	for _, account := range slices.Sorted(maps.Keys(lines)) {
		b.WriteString(account + ":" + lines[account] + "\n")
	}
	return b.String()
}

func (c *Changer) writeFile(ctx context.Context, content string) error {
	return c.applyObjects(ctx, newSecret(fileSecret, "htpasswd", content))
}

func newSecret(name, key, content string) object {
	return object{"apiVersion": "v1", "kind": "Secret", "type": "Opaque", "metadata": newMetadata(name), "data": object{key: []byte(content)}}
}

func newMetadata(name string) object {
	return object{"name": name, "namespace": configNamespace, "labels": object{"app.kubernetes.io/managed-by": "ocpctl"}}
}

func (c *Changer) applyObjects(ctx context.Context, objects ...any) error {
	if len(objects) == 0 {
		return nil
	}
	raw, err := json.Marshal(object{"apiVersion": "v1", "kind": "List", "items": objects})
	if err != nil {
		return fmt.Errorf("write the console's accounts: %w", err)
	}
	return c.Cluster.Run(ctx, raw, "apply", "--server-side", "--force-conflicts", "--field-manager=ocpctl", "-f", "-")
}

// bindAccounts gives the accounts their cluster roles. The role edit is bound in namespaces, with the service accounts that have it.
func (c *Changer) bindAccounts(ctx context.Context, give []contract.Access) error {
	var objects []any
	for _, one := range give {
		roles := c.Roles(one.Role)
		if roles == nil {
			return fmt.Errorf("%q is not a role in a cluster: this runner is older than the server", one.Role)
		}
		for _, role := range roles {
			objects = append(objects, object{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
				"metadata": object{"name": "ocpctl-console-" + one.Account + "-" + role,
					"labels":      object{"app.kubernetes.io/managed-by": "ocpctl", label: one.Account, roleLabel: one.Role},
					"annotations": object{"ocpctl.io/reader": one.Reader, "ocpctl.io/access-id": one.ID}},
				"roleRef":  object{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
				"subjects": []object{{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": one.Account}}})
		}
	}
	return c.applyObjects(ctx, objects...)
}

// named is an object that belongs to an account.
type named struct {
	Metadata struct {
		Name   string
		Labels map[string]string
	}
	UserName string // of a token
}

// findObjects returns the objects of a kind that belong to one of the accounts.
func (c *Changer) findObjects(ctx context.Context, kind string, accounts []string, more ...string) ([]string, error) {
	raw, err := c.Cluster.Get(ctx, append([]string{kind}, more...)...)
	if err != nil {
		return nil, err
	}
	var all struct{ Items []named }
	if !raw.Empty() && json.Unmarshal([]byte(raw.Reveal()), &all) != nil {
		return nil, fmt.Errorf("oc get %s: the answer is not a list", kind)
	}
	var found []string
	for _, one := range all.Items {
		name := one.Metadata.Name
		of := []string{one.UserName, one.Metadata.Labels[label], name, strings.TrimPrefix(name, names.ConsoleProvider+":"), strings.TrimPrefix(name, names.OpenIDProvider+":")}
		if slices.ContainsFunc(accounts, func(a string) bool { return slices.Contains(of, a) }) {
			found = append(found, name)
		}
	}
	return found, nil
}

func (c *Changer) removeObjects(ctx context.Context, kind string, names []string) error {
	var trouble error
	for part := range slices.Chunk(names, 100) {
		trouble = cmp.Or(trouble, c.Cluster.Run(ctx, nil, append([]string{"delete", kind, "--ignore-not-found", "--wait=false"}, part...)...))
	}
	return trouble
}

// unbindAccounts removes the rights that accounts have in the whole cluster.
func (c *Changer) unbindAccounts(ctx context.Context, accounts []string) error {
	if len(accounts) == 0 {
		return nil
	}
	bound, err := c.findObjects(ctx, bindings, accounts, "-l", label)
	if err != nil {
		return err
	}
	return c.removeObjects(ctx, bindings, bound)
}

// sessionKinds are the kinds of what an account has after it signed in, in the order in which they are removed.
var sessionKinds = []string{tokens, codes, identities, users}

// endSessions removes what accounts have because they signed in: their tokens and codes, which are their sessions, and their user and identity.
func (c *Changer) endSessions(ctx context.Context, accounts []string) error {
	if len(accounts) == 0 {
		return nil
	}
	for _, kind := range sessionKinds {
		found, err := c.findObjects(ctx, kind, accounts)
		if err == nil {
			err = c.removeObjects(ctx, kind, found)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// checkGone looks again, and returns an error if anything of the accounts is left.
func (c *Changer) checkGone(ctx context.Context, take []contract.Access) error {
	var accounts []string
	for _, one := range take {
		accounts = append(accounts, one.Account)
	}
	for _, kind := range append([]string{bindings}, sessionKinds...) {
		found, err := c.findObjects(ctx, kind, accounts)
		if err != nil {
			return err
		}
		if len(found) > 0 {
			return fmt.Errorf("the cluster still has %d %s of a removed account, although they were deleted", len(found), kind)
		}
	}
	return nil
}
