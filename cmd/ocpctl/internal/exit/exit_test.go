package exit_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/exit"
)

func TestAnErrorKeepsItsCodeThroughWords(t *testing.T) {
	inner := exit.With(exit.Conflict, errors.New("the name is taken"))
	for want, err := range map[exit.Code]error{
		exit.OK: nil, exit.Other: errors.New("x"), exit.Conflict: fmt.Errorf("create: %w", errors.Join(errors.New("y"), inner)),
		exit.Interrupted: fmt.Errorf("wait: %w", context.Canceled), exit.Failed: exit.Silent(exit.Failed), exit.Usage: exit.Misused("%s", "z"),
	} {
		require.Equal(t, want, exit.CodeOf(err))
	}
	require.Empty(t, exit.Silent(exit.Failed).Error(), "it was said already")
	require.Equal(t, "the name is taken", inner.Error())
}

func TestAProblemIsALineForEachField(t *testing.T) {
	many := make([]string, 20)
	for i := range many {
		many[i] = fmt.Sprint("v", i)
	}
	p := &exit.Problem{Title: "The request is not complete or not valid.", Fields: []exit.Field{
		{Name: "region", Detail: "mars is not on the list", Accepted: []string{"us-east-1", "eu-west-1."}}, {Name: "name", Detail: "Is it missing?"}, {Name: "version", Accepted: many},
	}, Next: "See ocpctl catalog profiles."}
	require.Equal(t, `The request is not complete or not valid.
  region: mars is not on the list. Accepted: us-east-1, eu-west-1.
  name: Is it missing?
  version:  Accepted: v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11, v12, v13, v14, v15 and 4 more.
See ocpctl catalog profiles.`, p.Error())
}

func TestEveryCodeHasItsMeaningOnce(t *testing.T) {
	seen := map[exit.Code]bool{}
	for _, m := range exit.Meanings() {
		require.False(t, seen[m.Code])
		require.NotEmpty(t, m.Words)
		seen[m.Code] = true
	}
	require.Len(t, seen, 11)
}
