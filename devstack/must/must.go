// Package must ends a function at its first error, without an if for each, as FailNow ends a test: for long sequences of calls in a stand-in,
// where every error goes to the caller as it is. Catch is where the function ends.
package must

import "fmt"

type failure struct{ err error }

// Do ends the function if err is not nil.
func Do(err error) {
	if err != nil {
		panic(failure{err})
	}
}

// Wrap ends the function if err is not nil, and says before it what failed.
func Wrap(err error, format string, args ...any) {
	if err != nil {
		panic(failure{fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), err)})
	}
}

// EndIf ends the function with err if a condition holds. Err is evaluated in any case.
func EndIf(holds bool, err error) {
	if holds {
		panic(failure{err})
	}
}

// FailIf ends the function with an error that says what is wrong, if it is.
func FailIf(wrong bool, format string, args ...any) {
	if wrong {
		panic(failure{fmt.Errorf(format, args...)})
	}
}

// Get returns v, or ends the function.
func Get[V any](v V, err error) V {
	Do(err)
	return v
}

// Get2 returns v and w, or ends the function.
func Get2[V, W any](v V, w W, err error) (V, W) {
	Do(err)
	return v, w
}

// Catch is deferred, and sets the named result err of the function that defers it. It must run in the same goroutine as Do.
func Catch(err *error) {
	switch f := recover().(type) {
	case nil:
	case failure:
		*err = f.err
	default:
		panic(f)
	}
}
