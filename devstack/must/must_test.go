package must_test

import (
	"errors"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/must"
)

func sum(a, b string) (n int, err error) {
	defer must.Catch(&err)
	return must.Get(strconv.Atoi(a)) + must.Get(strconv.Atoi(b)), nil
}

func TestAFunctionEndsAtItsFirstError(t *testing.T) {
	n, err := sum("1", "2")
	require.NoError(t, err)
	require.Equal(t, 3, n)
	_, err = sum("x", "y")
	require.ErrorIs(t, err, strconv.ErrSyntax)
	require.ErrorContains(t, err, `"x"`)
}

func TestAnotherPanicIsNotCaught(t *testing.T) {
	require.PanicsWithValue(t, "bug", func() {
		var err error
		defer must.Catch(&err)
		panic("bug")
	})
}

func TestAnErrorSaysWhatFailed(t *testing.T) {
	err := func() (err error) {
		defer must.Catch(&err)
		must.Wrap(nil, "nothing")
		must.Wrap(strconv.ErrRange, "read %q", "x")
		return nil
	}()
	require.ErrorIs(t, err, strconv.ErrRange)
	require.ErrorContains(t, err, `read "x": `)
}

func TestAConditionEndsAFunction(t *testing.T) {
	check := func(n int) (err error) {
		defer must.Catch(&err)
		must.EndIf(n < 0, strconv.ErrRange)
		must.FailIf(n > 9, "%d has two digits: %w", n, strconv.ErrSyntax)
		return nil
	}
	require.NoError(t, check(3))
	require.ErrorIs(t, check(-1), strconv.ErrRange)
	require.EqualError(t, check(10), "10 has two digits: invalid syntax")
	require.ErrorIs(t, check(10), strconv.ErrSyntax)
}

func TestBothValuesAreReturned(t *testing.T) {
	v, w := must.Get2(1, "a", nil)
	require.Equal(t, 1, v)
	require.Equal(t, "a", w)
	require.Panics(t, func() { must.Get2(1, "a", errors.New("no")) })
}
