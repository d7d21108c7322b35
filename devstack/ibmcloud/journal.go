package ibmcloud

import "strings"

// Asked is one call that was made.
type Asked struct {
	Call    string // vpc:delete_vpc
	Account string
	By      string // IAM id of who made it
	Region  string `json:",omitempty"`
	On      string `json:",omitempty"` // the wildcards of its path
	Failed  string `json:",omitempty"` // the error's code and text
}

// mostAsked limits the memory of a long run: the oldest calls are dropped first.
const mostAsked = 10_000

// note remembers a call. The server's mutex is held.
func (s *Server) note(c *call, err error) {
	a := Asked{Call: c.op, Account: c.who.account, By: c.who.iamID, Region: c.region}
	var on []string
	for _, name := range []string{"id", "sub", "record", "bucket", "key"} {
		if v := c.path(name); v != "" {
			on = append(on, v)
		}
	}
	a.On = strings.Join(on, "/")
	if err != nil {
		a.Failed = err.Error()
	}
	if len(s.asked) >= mostAsked {
		s.asked = append(s.asked[:0], s.asked[mostAsked/2:]...)
	}
	s.asked = append(s.asked, a)
}

// Journal returns the calls that reached a service, in their order, without those that a set fault answered.
func (s *Server) Journal() []Asked {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Asked{}, s.asked...)
}
