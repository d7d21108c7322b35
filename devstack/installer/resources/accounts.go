package resources

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/devstack/must"
)

// Account is a service account of a cluster.
type Account struct {
	Namespace, Name string
	UID             string   // another one if it is made again
	Labels          []string // key=value
}

// Binding gives a cluster role to a service account, or to a user, who has no namespace. A binding with several subjects is several of these.
type Binding struct {
	In                 string // the namespace in which it does; empty: in the whole cluster
	Name, Role         string
	Namespace, Account string
	Labels             []string // key=value
}

func (b Binding) key() string {
	return bindingTag + short(b.In+"/"+b.Name+"/"+b.Namespace+"/"+b.Account)
}

// The stand-in has no cluster to store these in, so they are tags of the network: each account and binding, and the key with which the
// cluster signs tokens.
const (
	accountTag = "ocpctl-standin/account/"
	bindingTag = "ocpctl-standin/binding/"
	signerTag  = "ocpctl-standin/signer"
)

// short is a part of a tag key: names are longer than a key may be.
func short(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:8])
}

func random() string {
	raw := make([]byte, 16)
	_, _ = rand.Read(raw) // never fails
	return hex.EncodeToString(raw)
}

// Accounts returns all service accounts, by namespace and name.
func (l *Living) Accounts() (all []Account) {
	for key, value := range l.Notes[l.Network] {
		var a Account
		var where, labels string
		if n, _ := fmt.Sscan(value, &where, &a.UID, &labels); strings.HasPrefix(key, accountTag) && n == 3 {
			a.Namespace, a.Name, _ = strings.Cut(where, "/")
			a.Labels = strings.Split(labels, ",")
			all = append(all, a)
		}
	}
	slices.SortFunc(all, func(a, b Account) int { return strings.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name) })
	return all
}

// Bindings returns all bindings of service accounts to cluster roles, by namespace, name and account.
func (l *Living) Bindings() (all []Binding) {
	for key, value := range l.Notes[l.Network] {
		var b Binding
		var where, who, labels string
		if n, _ := fmt.Sscan(value, &where, &b.Role, &who, &labels); strings.HasPrefix(key, bindingTag) && n == 4 {
			b.In, b.Name, _ = strings.Cut(where, "/")
			b.Namespace, b.Account, _ = strings.Cut(who, "/")
			b.Labels = strings.Split(labels, ",")
			all = append(all, b)
		}
	}
	slices.SortFunc(all, func(a, b Binding) int {
		return strings.Compare(a.In+"/"+a.Name+"/"+a.Account, b.In+"/"+b.Name+"/"+b.Account)
	})
	return all
}

// Account looks up a service account.
func (l *Living) Account(namespace, name string) (Account, bool) {
	for _, a := range l.Accounts() {
		if a.Namespace == namespace && a.Name == name {
			return a, true
		}
	}
	return Account{}, false
}

// ApplyAccount stores a service account. One that exists keeps its UID.
func (l *Living) ApplyAccount(ctx context.Context, a Account) error {
	if before, there := l.Account(a.Namespace, a.Name); there {
		a.UID = before.UID
	} else {
		a.UID = random()
	}
	where := a.Namespace + "/" + a.Name
	return l.remember(ctx, l.Network, accountTag+short(where), fmt.Sprintf("%s %s %s", where, a.UID, labels(a.Labels)))
}

// ApplyBinding stores a binding with its subjects, and no others.
func (l *Living) ApplyBinding(ctx context.Context, subjects ...Binding) (err error) {
	defer must.Catch(&err)
	for _, before := range l.Bindings() {
		same := func(b Binding) bool { return b.key() == before.key() }
		if before.In == subjects[0].In && before.Name == subjects[0].Name && !slices.ContainsFunc(subjects, same) {
			must.Do(l.remember(ctx, l.Network, before.key(), ""))
		}
	}
	for _, b := range subjects {
		value := fmt.Sprintf("%s/%s %s %s/%s %s", b.In, b.Name, b.Role, b.Namespace, b.Account, labels(b.Labels))
		must.Do(l.remember(ctx, l.Network, b.key(), value))
	}
	return nil
}

func labels(keys []string) string {
	slices.Sort(keys)
	if len(keys) == 0 {
		return "-"
	}
	return strings.Join(keys, ",")
}

// DeleteAccount removes a service account. Its tokens name its UID, so they are worth nothing from now on.
func (l *Living) DeleteAccount(ctx context.Context, namespace, name string) error {
	return l.remember(ctx, l.Network, accountTag+short(namespace+"/"+name), "")
}

// DeleteBinding removes a binding of a namespace, or of the whole cluster, with all its subjects.
func (l *Living) DeleteBinding(ctx context.Context, in, name string) error {
	for _, b := range l.Bindings() {
		if b.In == in && b.Name == name {
			if err := l.remember(ctx, l.Network, b.key(), ""); err != nil {
				return err
			}
		}
	}
	return nil
}

// RolesOf returns the cluster roles that a service account is bound to in a namespace, or in the whole cluster.
func (l *Living) RolesOf(namespace, name, in string) (roles []string) {
	if namespace == "" && name == "kube:admin" { // OpenShift's own group system:cluster-admins
		return []string{"cluster-admin"}
	}
	for _, b := range l.Bindings() {
		if b.Namespace == namespace && b.Account == name && (b.In == "" || b.In == in) {
			roles = append(roles, b.Role)
		}
	}
	return roles
}

// Signer returns the key with which the cluster signs the tokens of service accounts; it makes one the first time.
func (l *Living) Signer(ctx context.Context) ([]byte, error) {
	key := l.Notes[l.Network][signerTag]
	if key == "" {
		key = random()
		if err := l.remember(ctx, l.Network, signerTag, key); err != nil {
			return nil, err
		}
	}
	return []byte(key), nil
}

// LeastToken is the shortest life of a token.
const LeastToken = 10 * time.Minute
