package app

import (
	"context"
	"fmt"
	"strings"

	"github.com/ocpctl/ocpctl/internal/filter"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store"
)

// ReadFilter reads the filter of a list for somebody. Invalid: a part of it is not understood; the fields say which, and what would be.
func (s *Service) ReadFilter(ctx context.Context, p policy.Principal, text string) (filter.Query, error) {
	if strings.TrimSpace(text) == "" {
		return filter.Query{}, nil
	}
	who := s.readerOf(p)
	var err error
	if who.Now, err = s.store.Now(ctx); err != nil {
		return filter.Query{}, fmt.Errorf("read the clock: %w", err)
	}
	q, problems := filter.Parse(text, who)
	if len(problems) == 0 {
		return q, nil
	}
	refused := &Error{Kind: Invalid, Message: "The filter is not understood."}
	for _, problem := range problems {
		refused.Message += " " + problem.Text()
		refused.Fields = append(refused.Fields, Field{Name: "filter", Detail: problem.Text(), Accept: problem.Accept})
	}
	return filter.Query{}, refused
}

// readerOf returns somebody as filters know them. The name counts only for people of the catalogue: a name elsewhere proves nothing.
func (s *Service) readerOf(p policy.Principal) filter.Reader {
	return filter.Reader{Principal: p.ID, Name: s.NameOf(p.ID)}
}

// OwnedBy narrows a list to the clusters of somebody: those that they asked for under any of their identities, and those that they own.
func (s *Service) OwnedBy(p policy.Principal, f store.Filter) store.Filter {
	who := s.readerOf(p)
	f.Query = f.Query.With(filter.Owner, filter.Value{Is: who.Name, Principal: who.Principal})
	return f
}
