package scan

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/secret"
	"github.com/ocpctl/ocpctl/runner/cloud"
	"github.com/ocpctl/ocpctl/runner/platform"
	"github.com/ocpctl/ocpctl/runner/status"
)

const (
	// parallel is how many parts are listed at once. Each has its own rate in the cloud.
	parallel = 8
	// mostBytes limits the resources of one report, as JSON.
	mostBytes = 512 << 10
)

// scan is one running scan.
type scan struct {
	cfg   Config
	spec  contract.ScanSpec
	api   *status.Client
	cloud Inventory
	keys  cloud.Keys

	platform  platform.Platform
	reporting sync.Mutex // one report at a time, so that they are numbered in the order in which they arrive
	seq       int
	reported  time.Time // when the last report was acknowledged

	regions []string
	parts   int // that this runner lists

	mu         sync.Mutex
	incomplete []failedPart

	proof  string   // contract.ProofProven and so on
	unread []string // regions of which no limit could be read, with the reason
	denied bool     // for one of them, because a permission is missing
}

// failedPart is a part that was not answered completely.
type failedPart struct {
	name string
	err  error
}

// runScan runs the scan and returns how it ended. It never fails in another way.
func (s *scan) runScan(ctx context.Context) contract.ScanResult {
	ctx, end := context.WithCancel(ctx)
	var beats sync.WaitGroup
	beats.Go(func() { s.sendHeartbeats(ctx) })
	err := s.lookThrough(ctx)
	result := s.endScan(ctx, err)
	end()
	beats.Wait()
	return result
}

func (s *scan) lookThrough(ctx context.Context) error {
	if err := s.openAccount(ctx); err != nil {
		return err
	}
	if s.spec.Proof {
		return s.proveAccount(ctx)
	}
	if err := s.compareAccount(ctx); err != nil {
		return err
	}
	s.regions = s.spec.Regions
	if len(s.regions) == 0 {
		var err error
		if s.regions, err = s.cloud.Regions(ctx); err != nil {
			return s.explainUnanswered("RegionsUnknown", "the regions of the account are not known, so nothing was listed", err)
		}
	}
	parts := slices.DeleteFunc(s.cloud.Parts(s.regions), func(p string) bool { return slices.Contains(s.spec.Done, p) })
	s.parts = len(parts)
	group, each := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	for _, part := range parts {
		group.Go(func() error { return s.listPart(each, part) })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return s.measureRoom(ctx)
}

// openAccount looks up the cloud's keys, if they are a reference, and opens the account.
func (s *scan) openAccount(ctx context.Context) (err error) {
	s.platform, err = platform.Of(s.spec.Platform)
	open, known := s.cfg.Clouds[s.spec.Platform]
	if err != nil || !known {
		return failure{
			Reason: "UnknownPlatform", Message: fmt.Sprintf("this runner cannot look through accounts of the platform %q", s.spec.Platform),
			Next: "ask an administrator of this installation to remove the account from scan.accounts, or to upgrade ocpctl-runner",
		}
	}
	var keys cloud.Keys
	if ref := s.spec.CloudCredentialsRef; ref != "" {
		document, err := secret.Lookup(ctx, ref)
		if err == nil {
			s.cfg.Redact.Add(document)
			if keys, err = s.platform.ParseKeys(document); err != nil {
				s.proof = contract.ProofRefused // one that could not be read may be there in a minute
			}
		}
		if err != nil {
			return failure{
				Reason: "InvalidCloudCredentials", Message: fmt.Sprintf("the credentials for the account cannot be used: %v", err),
				Next: "ask an administrator of this installation to correct the secret behind credentials.ref of the account's document, or credentials_ref in scan.accounts",
			}
		}
		s.cfg.Redact.Add(keys.Secret, keys.Token)
	}
	keys.Role = cloud.RoleOf(s.spec.CloudRole, s.spec.Scan)
	s.keys = keys
	s.cloud, err = open(ctx, s.spec, keys)
	return err
}

// compareAccount ends the scan before anything is listed if the credentials belong to another account: what is not there would
// otherwise look deleted.
func (s *scan) compareAccount(ctx context.Context) error {
	account, err := s.cloud.Account(ctx)
	if err != nil {
		return s.explainUnanswered("AccountUnknown", "ocpctl could not find out which account the scan's credentials belong to, so nothing was listed", err)
	}
	if s.spec.Account != "" && account != s.spec.Account {
		return failure{
			Reason: "WrongAccount", Message: fmt.Sprintf("the scan's credentials belong to account %s, but account %s is to be looked through; nothing was listed", account, s.spec.Account),
			Next: "ask an administrator of this installation to give the scan credentials for account " + s.spec.Account,
		}
	}
	return nil
}

// listPart lists one part and reports it. An error ends the scan; what the cloud refused only makes the part incomplete.
func (s *scan) listPart(ctx context.Context, part string) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	p := &page{scan: s, part: part}
	err := s.cloud.List(ctx, part, func(seen []contract.SeenResource) error { return p.addResources(ctx, seen) })
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case p.failed != nil:
		return p.failed
	case errors.Is(err, cloud.ErrCredentials), errors.Is(err, cloud.ErrCredentialsExpired):
		return s.explainUnanswered("CredentialsRefused", "the cloud stopped accepting the scan's credentials", err)
	case err != nil:
		s.mu.Lock()
		s.incomplete = append(s.incomplete, failedPart{part, err})
		s.mu.Unlock()
		s.cfg.Log.Warn("part incomplete", "part", part, "err", err.Error())
	}
	return p.sendLast(ctx, err)
}

// page collects what a part showed until it is worth a report.
type page struct {
	*scan
	part   string
	seen   []contract.SeenResource
	bytes  int
	calls  int   // that were reported
	failed error // of a report
}

func (p *page) addResources(ctx context.Context, seen []contract.SeenResource) error {
	for _, one := range seen {
		raw, err := json.Marshal(one)
		if err != nil {
			return err
		}
		if p.bytes+len(raw) > mostBytes && len(p.seen) > 0 {
			if err := p.sendPart(ctx, contract.ScanPart{}); err != nil {
				return err
			}
		}
		p.seen, p.bytes = append(p.seen, one), p.bytes+len(raw)
	}
	return nil
}

// sendLast reports the rest, and why the part is incomplete if it is.
func (p *page) sendLast(ctx context.Context, err error) error {
	final := contract.ScanPart{Last: true}
	if err != nil {
		final.Err = p.cfg.Redact.Text(err.Error())
	}
	return p.sendPart(ctx, final)
}

func (p *page) sendPart(ctx context.Context, part contract.ScanPart) error {
	calls := p.cloud.CallsOf(p.part)
	part.Name, part.Resources, part.Calls = p.part, p.seen, calls-p.calls
	if part.Resources == nil {
		part.Resources = []contract.SeenResource{}
	}
	p.failed = p.reportPart(ctx, &part)
	p.seen, p.bytes, p.calls = nil, 0, calls
	return p.failed
}
