package chatops

// Review is the App's word about an environment for which jobs of a run wait.
type Review struct {
	Environment string
	State       string // approved or rejected; empty: it only reports
	Comment     string
}

// The decisions of a review, as GitHub spells them.
const (
	Approved = "approved"
	Rejected = "rejected"
)
