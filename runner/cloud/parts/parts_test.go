package parts_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/runner/cloud/parts"
)

var (
	errRefused  = errors.New("refused")
	errNoAnswer = errors.New("no route to host")
)

// run runs lists that end with these errors, and returns how many were asked for.
func run(ctx context.Context, errs ...error) (asked int, err error) {
	l := parts.New(ctx, func(err error) bool { return errors.Is(err, errRefused) }, func(err error) error { return fmt.Errorf("the list was %w", err) })
	for _, err := range errs {
		l.Run(func(context.Context) error { asked++; return err })
	}
	return asked, l.Err()
}

func TestARefusedListDoesNotEndAPartAndAMissingAnswerDoes(t *testing.T) {
	asked, err := run(t.Context(), nil, errRefused, nil, errRefused)
	require.Equal(t, 4, asked)
	require.EqualError(t, err, "the list was refused; and 1 more lists failed, the last one because the list was refused")
	asked, err = run(t.Context(), errNoAnswer, nil)
	require.Equal(t, 1, asked)
	require.EqualError(t, err, "the list was no route to host")
	asked, err = run(t.Context(), nil, nil)
	require.Equal(t, 2, asked)
	require.NoError(t, err)
}

func TestAStopAndAPageThatNobodyTakesEndAPartAsTheyAre(t *testing.T) {
	full := errors.New("the report failed")
	emit := parts.To(func([]contract.SeenResource) error { return full })
	require.NoError(t, emit(nil), "an empty page is not emitted")
	asked, err := run(t.Context(), errRefused, fmt.Errorf("list: %w", emit(make([]contract.SeenResource, 1))), nil)
	require.Equal(t, 2, asked)
	require.Equal(t, full, err)
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("stop")
	cancel(stop)
	asked, err = run(ctx, errNoAnswer, nil)
	require.Equal(t, 1, asked)
	require.Equal(t, stop, err)
}
