package kubernetes

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/ocpctl/ocpctl/devstack/must"
)

// callTimeout limits one call of the API as the administrator.
const callTimeout = 30 * time.Second

// StatusError is an answer of the API server other than success.
type StatusError struct {
	Code    int
	Message string
}

// Error implements error.
func (e *StatusError) Error() string { return fmt.Sprintf("HTTP %d: %s", e.Code, e.Message) }

// Admin calls the API server as the administrator. A body that is not nil is sent as JSON, and the answer is decoded into "into" unless
// that is nil. An answer other than success is a *StatusError.
func (s *Server) Admin(ctx context.Context, method, path string, body, into any) (err error) {
	defer must.Catch(&err)
	client, url, token, err := s.connection()
	must.Do(err)
	defer client.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	var raw []byte
	if body != nil { // the API server takes "null" for options that are all at their defaults
		raw = must.Get(json.Marshal(body))
	}
	r := must.Get(http.NewRequestWithContext(ctx, method, url+path, bytes.NewReader(raw)))
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	if method == http.MethodPatch {
		r.Header.Set("Content-Type", "application/merge-patch+json")
	}
	answer, err := client.Do(r)
	must.Wrap(err, "%s %s", method, path)
	defer answer.Body.Close()
	if raw, err = io.ReadAll(answer.Body); err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	if answer.StatusCode >= http.StatusBadRequest {
		return fmt.Errorf("%s %s: %w", method, path, &StatusError{answer.StatusCode, string(raw)})
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(raw, into)
}

func (s *Server) connection() (client *http.Client, url, token string, err error) {
	defer must.Catch(&err)
	url = must.Get(s.URL())
	token = must.Get(s.Token())
	ca := must.Get(os.ReadFile(s.CA()))
	pool := x509.NewCertPool()
	must.FailIf(!pool.AppendCertsFromPEM(ca), "%s has no certificate", s.CA())
	return &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}}, url, token, nil
}

// isCode reports whether an error is an answer with this HTTP status.
func isCode(err error, code int) bool {
	var answer *StatusError
	return errors.As(err, &answer) && answer.Code == code
}
