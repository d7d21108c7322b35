package answer

import (
	"net/http"

	"github.com/IBM/go-sdk-core/v5/core"
)

// Sealed returns an authenticator for a new client of the SDK. Each new client validates its options by reading every field that it can
// reach (core.ValidateStruct), and would read the token's fields while another call renews it.
func Sealed(a core.Authenticator) core.Authenticator {
	if a == nil {
		return nil
	}
	return &sealed{a}
}

type sealed struct{ of core.Authenticator }

func (s *sealed) AuthenticationType() string           { return s.of.AuthenticationType() }
func (s *sealed) Authenticate(req *http.Request) error { return s.of.Authenticate(req) }
func (s *sealed) Validate() error                      { return s.of.Validate() }
