package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

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

// onGitHub is who acts on a pull request: a login with what GitHub says of it.
func (d *Desk) onGitHub(ctx context.Context, by actor, door policy.Door, said store.SeenPermission, pr store.PullRequest, team string) (policy.Principal, error) {
	values := map[string][]string{"login": {by.login}, "permission": {said.Permission}, "repository": {pr.Repo}}
	if team != "" {
		values["owner"] = []string{team}
	}
	if len(said.Teams) > 0 {
		values["team"] = said.Teams
	}
	return d.elsewhere(ctx, policy.Claims{Source: profiles.SourceGitHub, Subject: by.login, Name: by.login, Values: values}, by.number(), door)
}

// elsewhere is who acts by an account elsewhere: it has the seats that the catalogue's identities give it for what that place
// says of it, and those of the person who said that the account is theirs. Both are worked out now, by the identities of now.
// The number is the account's own there, which no renaming changes.
func (d *Desk) elsewhere(ctx context.Context, said policy.Claims, number string, door policy.Door) (policy.Principal, error) {
	p, identities := policy.Principal{ID: string(said.Source) + ":" + said.Subject, Name: said.Name}, d.book().Identities
	p.Seats = policy.SeatsOf(identities, said)
	proof, err := d.linked(ctx, p, number, door)
	if err != nil {
		return policy.Principal{}, err
	}
	p.Seats = append(p.Seats, policy.SeatsOf(identities, proof)...)
	return p, nil
}

// linked is what the person proved last who said that the account is theirs: nothing where nobody did, or not lately. A name
// that came to be another's is theirs no longer.
func (d *Desk) linked(ctx context.Context, by policy.Principal, number string, door policy.Door) (proof policy.Claims, err error) {
	account, err := d.store.AccountOf(ctx, by.ID)
	if errors.Is(err, store.ErrNotFound) {
		return proof, nil
	}
	if err != nil {
		return proof, fmt.Errorf("look for the account of %s: %w", by.ID, err)
	}
	if account.Number != number {
		why := "account " + account.Number + " bore this name then, and account " + number + " bears it now"
		err := d.store.Unlink(ctx, account.Account, account.Principal, store.Deed{Actor: by.ID, Door: string(door), Why: why})
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return proof, fmt.Errorf("unlink the account of %s: %w", by.ID, err)
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

// person is who said that the account is theirs, as they may act where they signed in; ok is false where nobody did, or not
// lately.
func (d *Desk) person(ctx context.Context, by actor, door policy.Door) (p policy.Principal, ok bool, err error) {
	proof, err := d.linked(ctx, policy.Principal{ID: principalID(by.login), Name: by.login}, by.number(), door)
	if err != nil || proof.Subject == "" {
		return p, false, err
	}
	account, err := d.store.AccountOf(ctx, principalID(by.login))
	if err != nil {
		return p, false, fmt.Errorf("look for the account of %s: %w", by.login, err)
	}
	return policy.Principal{ID: account.Principal, Name: account.Name, Seats: policy.SeatsOf(d.book().Identities, proof)}, true, nil
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
