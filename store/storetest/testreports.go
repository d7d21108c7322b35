package storetest

import (
	"github.com/ocpctl/ocpctl/store/runs"
)

// Another is another run than runRef's.
func Another(key string) runs.Ref {
	ref := RunRef(1)
	ref.Key, ref.URL = key, "https://github.com/acme/shop/actions/runs/"+key
	return ref
}
