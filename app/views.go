package app

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/ocpctl/ocpctl/internal/filter"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/people"
)

// How many views of the list somebody can save, and how long their names are.
const (
	mostViews    = 20
	longestView  = 40
	longestQuery = 4 * filter.MaxLength // as an address spells it
)

// SavedViews returns the views of the list that somebody saved.
func (s *Service) SavedViews(ctx context.Context, p policy.Principal) ([]people.View, error) {
	return s.store.People.Views(ctx, p.ID)
}

// SaveView saves a view for whoever asks, in place of one of the same name. It grants nothing: what it shows is read with its reader's rights.
func (s *Service) SaveView(ctx context.Context, p policy.Principal, v people.View) error {
	v.Name = strings.TrimSpace(v.Name)
	if length := utf8.RuneCountInString(v.Name); length == 0 || length > longestView || len(v.Query) > longestQuery {
		return Fail(Invalid, fmt.Sprintf("Give the view a name of up to %d characters.", longestView))
	}
	err := s.store.People.SaveView(ctx, p.ID, v, mostViews)
	if errors.Is(err, db.ErrConflict) {
		return Fail(Conflict, fmt.Sprintf("You have %d saved views. Delete one first.", mostViews))
	}
	return err
}

// DropView forgets a view of whoever asks.
func (s *Service) DropView(ctx context.Context, p policy.Principal, name string) error {
	return s.store.People.DropView(ctx, p.ID, name)
}
