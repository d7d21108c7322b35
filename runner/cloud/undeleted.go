package cloud

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
