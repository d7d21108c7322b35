// Package must ends a play of a stand-in at the first error, as FailNow ends a test. Whoever starts the play gets the error from Catch.
package must

type failure struct{ err error }

// Do ends the play if err is not nil.
func Do(err error) {
	if err != nil {
		panic(failure{err})
	}
}

// Get returns v, or ends the play.
func Get[V any](v V, err error) V {
	Do(err)
	return v
}

// Get2 returns v and w, or ends the play.
func Get2[V, W any](v V, w W, err error) (V, W) {
	Do(err)
	return v, w
}

// Catch is deferred by whoever starts a play, in the same goroutine.
func Catch(err *error) {
	switch f := recover().(type) {
	case nil:
	case failure:
		*err = f.err
	default:
		panic(f)
	}
}
