package cloud

import "fmt"

// Undeleted is a resource that a removal did not delete. The errors of Remove and Detach join them with what could not be looked at.
type Undeleted struct {
	ID   string // as the count calls it
	What string // for people
	Err  error  // the cloud's answer, or a Kept
}

func (u *Undeleted) Error() string { return u.What + ": " + u.Err.Error() }
func (u *Undeleted) Unwrap() error { return u.Err }

// The codes of Kept, as teardown.yaml of package installer knows them.
const (
	KeptInUse    = "KeptInUse"    // somebody else uses it
	KeptUntagged = "KeptUntagged" // only its name says that it is the cluster's
	KeptAnothers = "KeptAnothers" // it has another cluster's mark, or is older than the cluster
	KeptMarked   = "KeptMarked"   // it has a tag of the cluster, and something else says that it may not be the cluster's
	KeptRecord   = "KeptRecord"   // a DNS record that neither the installer nor the cluster made
)

// Kept says that a removal left a resource on purpose. It has the form of a cloud's error, so that both are read in one way.
type Kept struct{ Code, Why string }

func (k *Kept) Error() string        { return "it was not deleted" }
func (k *Kept) ErrorCode() string    { return k.Code }
func (k *Kept) ErrorMessage() string { return k.Why }

// AllUndeleted lists the resources in an error of Remove or Detach.
func AllUndeleted(err error) (all []*Undeleted) {
	switch e := err.(type) {
	case *Undeleted:
		return []*Undeleted{e}
	case interface{ Unwrap() []error }:
		for _, one := range e.Unwrap() {
			all = append(all, AllUndeleted(one)...)
		}
	case interface{ Unwrap() error }:
		return AllUndeleted(e.Unwrap())
	}
	return all
}

// Removal collects what a removal deleted, and what it could not delete or left alone.
type Removal struct {
	IsAbsent func(error) bool // reports that the cloud answered and the object does not exist
	Deleted  []string
	Errs     []error
}

// AddError records an error, unless it says that the object no longer exists.
func (r *Removal) AddError(doing string, err error) {
	if err != nil && !r.IsAbsent(err) {
		r.Errs = append(r.Errs, fmt.Errorf("%s: %w", doing, err))
	}
}

// Keep records what was left alone and why. The code is one of those above.
func (r *Removal) Keep(code, id, format string, args ...any) {
	why := fmt.Sprintf(format, args...)
	r.Errs = append(r.Errs, &Undeleted{ID: id, What: why, Err: &Kept{Code: code, Why: why}})
}

// NoteDeletion records a deletion, or why it failed. The id is the one by which the count calls the resource.
func (r *Removal) NoteDeletion(id, what string, err error) {
	r.NoteFailure(id, "delete "+what, err)
	if err == nil {
		r.Deleted = append(r.Deleted, what)
	}
}

// NoteFailure records that a step of a resource's deletion failed. It reports whether it did.
func (r *Removal) NoteFailure(id, doing string, err error) bool {
	if err == nil || r.IsAbsent(err) {
		return false
	}
	r.Errs = append(r.Errs, &Undeleted{ID: id, What: doing, Err: err})
	return true
}
