package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/versity/versitygw/auth"

	"github.com/ocpctl/ocpctl/devstack/aws/iampolicy"
	"github.com/ocpctl/ocpctl/devstack/aws/session"
	"github.com/ocpctl/ocpctl/devstack/s3"
)

// accounts tells the gateway whose a key is and what it may: the accounts of the order, and the sessions that the stand-in
// STS made with the same session key. The gateway's own key, which it knows by itself, may do everything.
type accounts struct {
	owner      string // access key of the gateway itself
	list       []s3.Account
	sessionKey string
}

var (
	_ auth.IAMService         = accounts{}
	_ auth.SigningKeyProvider = accounts{}
	_ auth.PolicyEvaluator    = accounts{}
	_ auth.FixedBucketOwner   = accounts{}
)

// find returns the session of a key: of a permanent one, too, which never ends.
func (a accounts) find(access, token string) (session.Session, error) {
	if token != "" {
		s, err := session.Open(a.sessionKey, access, token, time.Now())
		if err != nil {
			return s, auth.ErrInvalidSessionToken
		}
		return s, nil
	}
	i := slices.IndexFunc(a.list, func(one s3.Account) bool { return one.AccessKey == access })
	if i < 0 {
		return session.Session{}, auth.ErrNoSuchUser
	}
	return session.Session{SecretKey: a.list[i].SecretKey, ARN: a.list[i].ARN, RolePolicy: a.list[i].Policy}, nil
}

// DeriveSigningKey implements auth.SigningKeyProvider: the key of Signature Version 4.
func (a accounts) DeriveSigningKey(access, token, date, region, service string) ([]byte, auth.Account, error) {
	who, err := a.find(access, token)
	if err != nil {
		return nil, auth.Account{}, err
	}
	key := []byte("AWS4" + who.SecretKey)
	for _, part := range []string{date, region, service, "aws4_request"} {
		sum := hmac.New(sha256.New, key)
		sum.Write([]byte(part))
		key = sum.Sum(nil)
	}
	return key, auth.Account{Access: access, Role: auth.RoleUserPlus, SessionToken: token, IsSession: token != "", Arn: who.ARN}, nil
}

// EvaluatePolicy implements auth.PolicyEvaluator.
func (a accounts) EvaluatePolicy(access, token string, actions []auth.Action, resources []string, condition map[string][]string) (auth.PolicyEvaluation, error) {
	who, err := a.find(access, token)
	if err != nil {
		return auth.PolicyEvaluation{}, err
	}
	keys := session.TagKeys(who.Tags)
	maps.Copy(keys, condition)
	var parsed []iampolicy.Document
	for _, raw := range who.Policies() {
		document, err := iampolicy.Parse(raw)
		if err != nil {
			return auth.PolicyEvaluation{}, err
		}
		parsed = append(parsed, document)
	}
	out := auth.PolicyEvaluation{PrincipalArn: who.ARN}
	fill(&out.Decisions, resources, actions, func(action, resource string) iampolicy.Decision { return decide(parsed, action, resource, keys) })
	return out, nil
}

// decide lets every document have its say: one that denies is final, and each must allow.
func decide(documents []iampolicy.Document, action, resource string, condition map[string][]string) iampolicy.Decision {
	decision := iampolicy.Allow
	for _, d := range documents {
		switch d.Evaluate(action, resource, condition) {
		case iampolicy.Deny:
			return iampolicy.Deny
		case iampolicy.NoMatch:
			decision = iampolicy.NoMatch
		}
	}
	return decision
}

// fill writes decisions for each resource and action. The gateway's type for them has no name outside of it, but the same
// three values in the same order (auth/bucket_policy.go of versitygw 1.8); a test notices when that changes.
func fill[D ~int](to *[][]D, resources []string, actions []auth.Action, decide func(action, resource string) iampolicy.Decision) {
	for _, resource := range resources {
		row := make([]D, 0, len(actions))
		for _, action := range actions {
			row = append(row, D(decide(string(action), resource)))
		}
		*to = append(*to, row)
	}
}

// BucketOwner implements auth.FixedBucketOwner: all keys are of one AWS account, which owns every bucket, so that each key that may list buckets
// sees all of them.
func (a accounts) BucketOwner() auth.Account {
	return auth.Account{Access: a.owner, Role: auth.RoleAdmin}
}

// errFixed answers what would change accounts: they are those of the order.
var errFixed = errors.New("the stand-in's accounts do not change")

// GetUserAccount implements auth.IAMService.
func (a accounts) GetUserAccount(access string) (auth.Account, error) {
	who, err := a.find(access, "")
	return auth.Account{Access: access, Role: auth.RoleUserPlus, Arn: who.ARN}, err
}

// ResolveAccounts implements auth.IAMService.
func (a accounts) ResolveAccounts(keys []string) (missing []string, err error) {
	for _, key := range keys {
		if _, err := a.find(key, ""); err != nil {
			missing = append(missing, key)
		}
	}
	return missing, nil
}

// CreateAccount implements auth.IAMService.
func (accounts) CreateAccount(auth.Account) error { return fmt.Errorf("create account: %w", errFixed) }

// UpdateUserAccount implements auth.IAMService.
func (accounts) UpdateUserAccount(string, auth.MutableProps) error {
	return fmt.Errorf("update account: %w", errFixed)
}

// DeleteUserAccount implements auth.IAMService.
func (accounts) DeleteUserAccount(string) error { return fmt.Errorf("delete account: %w", errFixed) }

// ListUserAccounts implements auth.IAMService.
func (accounts) ListUserAccounts() ([]auth.Account, error) { return nil, nil }

// Shutdown implements auth.IAMService.
func (accounts) Shutdown() error { return nil }
