package auth

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/arn"
	"github.com/aws/aws-sdk-go-v2/service/organizations"
	"github.com/aws/aws-sdk-go-v2/service/organizations/types"
)

// Accounts asks AWS Organizations for the organisation of an account and caches the answer for an hour. It needs
// organizations:DescribeAccount, from the management account or a delegated one. Safe for concurrent use.
type Accounts struct {
	client  *organizations.Client
	timeout time.Duration
	now     func() time.Time

	mu    sync.Mutex
	known map[string]membership // by account
}

type membership struct {
	organization string
	until        time.Time
}

const (
	membershipFresh = time.Hour
	mostKnown       = 10_000 // accounts; more than an organisation may have by default
)

// NewAccounts returns a directory that uses the configuration's credentials. now may be nil.
func NewAccounts(cfg aws.Config, patience time.Duration, now func() time.Time) *Accounts {
	return &Accounts{client: organizations.NewFromConfig(cfg), timeout: timeoutOrDefault(patience), now: clockOrDefault(now), known: map[string]membership{}}
}

// OrganizationOf implements Directory. It returns none for an account outside the organisations that it can query.
func (a *Accounts) OrganizationOf(ctx context.Context, account string) (string, error) {
	if found, ok := a.findRemembered(account); ok {
		return found, nil
	}
	ctx, cancel := context.WithTimeout(ctx, a.timeout)
	defer cancel()
	out, err := a.client.DescribeAccount(ctx, &organizations.DescribeAccountInput{AccountId: &account})
	var unknown *types.AccountNotFoundException
	if errors.As(err, &unknown) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("describe account %s: %w", account, err)
	}
	if out.Account == nil {
		return "", fmt.Errorf("describe account %s: the response is empty", account)
	}
	// arn:aws:organizations::<management account>:account/o-<organisation>/<account>
	parsed, err := arn.Parse(aws.ToString(out.Account.Arn))
	parts := strings.Split(parsed.Resource, "/")
	if err != nil || len(parts) != 3 || parts[0] != "account" || parts[2] != account {
		return "", fmt.Errorf("describe account %s: its ARN contains no organization", account)
	}
	a.rememberOrganization(account, parts[1])
	return parts[1], nil
}

func (a *Accounts) findRemembered(account string) (string, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	m, ok := a.known[account]
	return m.organization, ok && a.now().Before(m.until)
}

func (a *Accounts) rememberOrganization(account, organization string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.known) >= mostKnown {
		clear(a.known)
	}
	a.known[account] = membership{organization, a.now().Add(membershipFresh)}
}
