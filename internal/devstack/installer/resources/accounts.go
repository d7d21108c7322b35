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

	"github.com/aws/aws-sdk-go-v2/aws"
)

// Account is a service account of a cluster.
type Account struct {
	Namespace, Name string
	UID             string // another one if it is made again
	Labels          []string
}

// Binding gives a cluster role to a service account, in the whole cluster.
type Binding struct {
	Name, Role         string
	Namespace, Account string
	Labels             []string
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
	for _, t := range l.network.Tags {
		var a Account
		var where, labels string
		if n, _ := fmt.Sscan(aws.ToString(t.Value), &where, &a.UID, &labels); strings.HasPrefix(aws.ToString(t.Key), accountTag) && n == 3 {
			a.Namespace, a.Name, _ = strings.Cut(where, "/")
			a.Labels = strings.Split(labels, ",")
			all = append(all, a)
		}
	}
	slices.SortFunc(all, func(a, b Account) int { return strings.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name) })
	return all
}

// Bindings returns all bindings of service accounts to cluster roles, by name.
func (l *Living) Bindings() (all []Binding) {
	for _, t := range l.network.Tags {
		var b Binding
		var who, labels string
		if n, _ := fmt.Sscan(aws.ToString(t.Value), &b.Name, &b.Role, &who, &labels); strings.HasPrefix(aws.ToString(t.Key), bindingTag) && n == 4 {
			b.Namespace, b.Account, _ = strings.Cut(who, "/")
			b.Labels = strings.Split(labels, ",")
			all = append(all, b)
		}
	}
	slices.SortFunc(all, func(a, b Binding) int { return strings.Compare(a.Name, b.Name) })
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
	return l.remember(ctx, aws.ToString(l.network.VpcId), accountTag+short(where), fmt.Sprintf("%s %s %s", where, a.UID, labels(a.Labels)))
}

// ApplyBinding stores a binding.
func (l *Living) ApplyBinding(ctx context.Context, b Binding) error {
	value := fmt.Sprintf("%s %s %s/%s %s", b.Name, b.Role, b.Namespace, b.Account, labels(b.Labels))
	return l.remember(ctx, aws.ToString(l.network.VpcId), bindingTag+short(b.Name), value)
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
	return l.remember(ctx, aws.ToString(l.network.VpcId), accountTag+short(namespace+"/"+name), "")
}

// DeleteBinding removes a binding.
func (l *Living) DeleteBinding(ctx context.Context, name string) error {
	return l.remember(ctx, aws.ToString(l.network.VpcId), bindingTag+short(name), "")
}

// RolesOf returns the cluster roles that a service account is bound to.
func (l *Living) RolesOf(namespace, name string) (roles []string) {
	for _, b := range l.Bindings() {
		if b.Namespace == namespace && b.Account == name {
			roles = append(roles, b.Role)
		}
	}
	return roles
}

// Signer returns the key with which the cluster signs the tokens of service accounts; it makes one the first time.
func (l *Living) Signer(ctx context.Context) ([]byte, error) {
	key := tag(l.network.Tags, signerTag)
	if key == "" {
		key = random()
		if err := l.remember(ctx, aws.ToString(l.network.VpcId), signerTag, key); err != nil {
			return nil, err
		}
	}
	return []byte(key), nil
}

// LeastToken is the shortest life of a token.
const LeastToken = 10 * time.Minute
