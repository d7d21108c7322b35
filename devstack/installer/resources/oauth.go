package resources

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/devstack/must"
)

// Session is what a user of the cluster's OAuth has after signing in: a user with an identity, and a token until it expires.
type Session struct {
	User, Provider string
	Subject        string // under which the provider knows the user
	Groups         string // that the provider named, with commas; empty: none
	Hash           string // of the token; it is the token's name in the API (sha256~…)
	Expires        time.Time
}

// The stand-in has no cluster to store these in, so they are tags of the network: each line of an htpasswd file, each identity provider, each
// session, and how often the OAuth server was configured anew.
const (
	lineTag       = "ocpctl-standin/htpasswd/"
	providerTag   = "ocpctl-standin/identity-provider/"
	sessionTag    = "ocpctl-standin/session/"
	configuredTag = "ocpctl-standin/oauth-generation"
	keptTag       = "ocpctl-standin/kept/"
)

// Passwords returns the hashes in the htpasswd file of a Secret of openshift-config, by user.
func (l *Living) Passwords(file string) map[string]string {
	out := map[string]string{}
	for key, value := range l.Notes[l.Network] {
		var in, user, encoded string
		if n, _ := fmt.Sscan(value, &in, &user, &encoded); strings.HasPrefix(key, lineTag) && n == 3 && in == file {
			if hash, err := base64.StdEncoding.DecodeString(encoded); err == nil {
				out[user] = string(hash)
			}
		}
	}
	return out
}

// SetPasswords replaces the htpasswd file of a Secret.
func (l *Living) SetPasswords(ctx context.Context, file string, lines map[string]string) (err error) {
	defer must.Catch(&err)
	before := l.Passwords(file)
	for user := range before {
		if lines[user] == "" {
			must.Do(l.remember(ctx, l.Network, lineTag+short(file+"/"+user), ""))
		}
	}
	for user, hash := range lines {
		if before[user] == hash {
			continue
		}
		value := fmt.Sprintf("%s %s %s", file, user, base64.StdEncoding.EncodeToString([]byte(hash)))
		must.Do(l.remember(ctx, l.Network, lineTag+short(file+"/"+user), value))
	}
	return nil
}

// Providers returns the identity providers of the cluster's OAuth in their order, each as JSON.
func (l *Living) Providers() (all []string) {
	for at := 0; ; at++ {
		raw, err := base64.StdEncoding.DecodeString(l.Notes[l.Network][providerTag+strconv.Itoa(at)])
		if err != nil || len(raw) == 0 {
			return all
		}
		all = append(all, string(raw))
	}
}

// SetProviders replaces the identity providers.
func (l *Living) SetProviders(ctx context.Context, all []string) error {
	for at := range max(len(all), len(l.Providers())) {
		value := ""
		if at < len(all) {
			value = base64.StdEncoding.EncodeToString([]byte(all[at]))
		}
		if err := l.remember(ctx, l.Network, providerTag+strconv.Itoa(at), value); err != nil {
			return err
		}
	}
	return nil
}

// Configured returns how often the OAuth server was configured anew: its Deployment's generation.
func (l *Living) Configured() int {
	n, _ := strconv.Atoi(l.Notes[l.Network][configuredTag])
	return n + 1
}

// Configure counts that it was.
func (l *Living) Configure(ctx context.Context) error {
	return l.remember(ctx, l.Network, configuredTag, strconv.Itoa(l.Configured()))
}

// Kept returns a text that was kept under a name; empty: none.
func (l *Living) Kept(where string) string {
	raw, _ := base64.StdEncoding.DecodeString(l.Notes[l.Network][keptTag+short(where)])
	return string(raw)
}

// Keep keeps a text, or forgets it if it is empty.
func (l *Living) Keep(ctx context.Context, where, text string) error {
	return l.remember(ctx, l.Network, keptTag+short(where), base64.StdEncoding.EncodeToString([]byte(text)))
}

// Sessions returns the sessions, by user.
func (l *Living) Sessions() (all []Session) {
	for key, value := range l.Notes[l.Network] {
		var s Session
		var until int64
		if n, _ := fmt.Sscan(value, &s.User, &s.Provider, &s.Hash, &until, &s.Subject, &s.Groups); strings.HasPrefix(key, sessionTag) && n >= 4 {
			s.Expires, s.Subject = time.Unix(until, 0), cmp.Or(s.Subject, s.User)
			all = append(all, s)
		}
	}
	slices.SortFunc(all, func(a, b Session) int { return strings.Compare(a.User+a.Hash, b.User+b.Hash) })
	return all
}

// Begin stores a session.
func (l *Living) Begin(ctx context.Context, s Session) error {
	return l.remember(ctx, l.Network, sessionTag+short(s.Hash), fmt.Sprintf("%s %s %s %d %s %s", s.User, s.Provider, s.Hash, s.Expires.Unix(), s.Subject, s.Groups))
}

// End removes a session. The user's account goes with the last one here.
func (l *Living) End(ctx context.Context, s Session) error {
	return l.remember(ctx, l.Network, sessionTag+short(s.Hash), "")
}
