package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store"
)

// actor is who acts on GitHub: a login, and the number that tells two who bore it one after the other apart.
type actor struct {
	login string
	id    int64
}

func (a actor) number() string { return strconv.FormatInt(a.id, 10) }

// linkCounts is how long an account elsewhere counts as its owner's after they signed in last.
const linkCounts = 7 * 24 * time.Hour

// onGitHub is who acts on a pull request: a login with the seats that the catalogue's identities give it for what GitHub says
// of it, and those of the person who said that the account is theirs. Both are worked out now, by the identities of now.
func (d *Desk) onGitHub(ctx context.Context, by actor, door policy.Door, permission, repo, team string) (policy.Principal, error) {
	values := map[string][]string{"login": {by.login}, "permission": {permission}, "repository": {repo}}
	if team != "" {
		values["owner"] = []string{team}
	}
	p, identities := policy.Principal{ID: principalID(by.login), Name: by.login}, d.book().Identities
	p.Seats = policy.SeatsOf(identities, policy.Claims{Source: profiles.SourceGitHub, Subject: by.login, Name: by.login, Values: values})
	proof, err := d.linked(ctx, by, door)
	if err != nil {
		return policy.Principal{}, err
	}
	p.Seats = append(p.Seats, policy.SeatsOf(identities, proof)...)
	return p, nil
}

// linked is what the person proved last who said that the account is theirs: nothing where nobody did, or not lately. A login
// that came to be another's is theirs no longer.
func (d *Desk) linked(ctx context.Context, by actor, door policy.Door) (proof policy.Claims, err error) {
	account, err := d.store.AccountOf(ctx, principalID(by.login))
	if errors.Is(err, store.ErrNotFound) {
		return proof, nil
	}
	if err != nil {
		return proof, fmt.Errorf("look for the account of %s: %w", by.login, err)
	}
	if account.Number != by.number() {
		why := "GitHub's account " + account.Number + " bore this name then, and account " + by.number() + " bears it now"
		err := d.store.Unlink(ctx, account.Account, account.Principal, store.Deed{Actor: principalID(by.login), Door: string(door), Why: why})
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return proof, fmt.Errorf("unlink the account of %s: %w", by.login, err)
		}
		return proof, nil
	}
	now, err := d.store.Now(ctx)
	if err != nil {
		return proof, fmt.Errorf("read the clock: %w", err)
	}
	if now.Sub(account.SeenAt) > linkCounts {
		return proof, nil
	}
	if err := json.Unmarshal(account.Proof, &proof); err != nil {
		return policy.Claims{}, fmt.Errorf("what the owner of %s proved: %w", account.Account, err)
	}
	return proof, nil
}

// approveByComment gives the author's word to everything of the pull request that waits for one. The answer is saved with the
// last of the votes.
func (d *Desk) approveByComment(ctx context.Context, c command) (reply, note string, err error) {
	waiting, err := d.waiting(ctx, c)
	if err != nil {
		return "", "", err
	}
	if len(waiting) == 0 {
		return "", "", fail(NotFound, "@%s, nothing of this pull request waits for approval. `/ocp status` shows what it has.", c.event.Author)
	}
	var words []string
	answered := false
	for i, a := range waiting {
		last := i == len(waiting)-1
		now, err := d.vote(ctx, c.request.Principal, a.ID, true, Deed{Door: policy.DoorComment, Why: c.Line}, func(by store.Deed) (store.Approval, error) {
			if !last {
				return d.store.Vote(ctx, a.ID, true, by)
			}
			return d.store.VoteOnce(ctx, a.ID, true, by, c.cause, func(now store.Approval) store.Reply {
				return c.reply(paragraphs(append(slices.Clone(words), approved(c.event.Author, now))))
			})
		})
		var said *Error
		switch {
		case errors.As(err, &said): // what stands against the vote is an answer
			words = append(words, fmt.Sprintf("@%s, `%s`: %s", c.event.Author, a.ClusterName, said.Message))
		case err != nil:
			return "", "", err
		default:
			words, answered = append(words, approved(c.event.Author, now.Approval)), last
		}
	}
	note = "approve: " + strings.Join(words, " ")
	if answered {
		return "", note, nil
	}
	return paragraphs(words), note, nil
}

func paragraphs(words []string) string { return strings.Join(words, "\n\n") }

// waiting is what a command's approval means.
func (d *Desk) waiting(ctx context.Context, c command) ([]store.Approval, error) {
	rows, err := d.live(ctx, c.pr.Repo, c.pr.Number)
	if err != nil {
		return nil, err
	}
	var all []store.Approval
	for _, row := range rows {
		if !row.NeedsApproval || c.Profile != "" && row.Profile != c.Profile {
			continue
		}
		page, _, err := d.store.Approvals(ctx, store.ApprovalFilter{Cluster: row.ID, State: store.ApprovalPending, Kind: store.ApproveCreate})
		if err != nil {
			return nil, fmt.Errorf("look for approvals of %s: %w", row.ID, err)
		}
		all = append(all, page...)
	}
	return all, nil
}

// approved says what a vote came to.
func approved(actor string, now store.Approval) string {
	if now.State == store.ApprovalPending {
		return fmt.Sprintf("@%s approved `%s`: %d of %d votes.", actor, now.ClusterName, approvers(now), now.Needs)
	}
	return fmt.Sprintf("@%s approved `%s` at `%s`; it begins now, or once it is its turn.", actor, now.ClusterName, chatops.ShortSHA(now.Head))
}

// rebind makes what was approved of another head void: a vote is for exactly what it was given to.
func (d *Desk) rebind(ctx context.Context, row store.Row, head string) ([]string, error) {
	if !row.NeedsApproval || head == "" {
		return nil, nil
	}
	moved, err := d.store.RebindApproval(ctx, row.ID, head)
	if err != nil {
		return nil, fmt.Errorf("bind the approval of %s anew: %w", row.ID, err)
	}
	if !moved {
		return nil, nil
	}
	return []string{fmt.Sprintf("%s waits for approval of %s", row.Name, head)}, nil
}

// linkByComment answers with a link by which whoever signs in there says that the author's account is theirs. It gives nothing
// to whoever only reads it.
func (d *Desk) linkByComment(ctx context.Context, c command) (reply, note string, err error) {
	deed := store.Deed{Actor: principalID(c.event.Author), Door: string(policy.DoorComment), Why: c.Line}
	link, err := d.AccountLink(ctx, principalID(c.event.Author), actor{c.event.Author, c.event.AuthorID}.number(), deed)
	if err != nil {
		return "", "", err
	}
	return fmt.Sprintf("@%s, open %s and sign in: it says that the GitHub account `%s` is yours, once, until %s. Nobody else should.",
		c.event.Author, link.URL.Reveal(), c.event.Author, when(link.ExpiresAt)), "account link", nil
}
