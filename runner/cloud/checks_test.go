package cloud_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/runner/cloud"
)

func TestChecksRunAtOnceAndAnswerInTheirOrder(t *testing.T) {
	second := make(chan struct{})
	explain := func(err error) cloud.Problem { return cloud.Problem{Code: "NotAnswered", Message: err.Error()} }
	problems, err := cloud.RunChecks(t.Context(), time.Minute, explain,
		func(context.Context) ([]cloud.Problem, error) {
			<-second // the first ends after the second
			return []cloud.Problem{{Code: "A"}}, errors.New("and no more")
		},
		func(context.Context) ([]cloud.Problem, error) {
			close(second)
			return []cloud.Problem{{Code: "B"}}, nil
		},
		func(context.Context) ([]cloud.Problem, error) { return nil, nil },
	)
	require.NoError(t, err)
	require.Equal(t, []cloud.Problem{{Code: "A"}, {Code: "NotAnswered", Message: "and no more"}, {Code: "B"}}, problems)
}

func TestChecksEndWithTheirContext(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	_, err := cloud.RunChecks(ctx, time.Minute, nil, func(ctx context.Context) ([]cloud.Problem, error) {
		stop()
		return nil, nil
	})
	require.ErrorIs(t, err, context.Canceled)
}
