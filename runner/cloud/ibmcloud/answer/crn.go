package answer

import "strings"

// CRN is the parts of a cloud resource name that tell what and where a resource is:
// crn:v1:bluemix:public:<service>:<location>:a/<account>:<instance>:<kind>:<id>
type CRN struct{ Service, Location, Instance, Kind, ID string }

// ParseCRN splits a cloud resource name. ok is false if it is none.
func ParseCRN(s string) (c CRN, ok bool) {
	parts := strings.SplitN(s, ":", 10)
	if len(parts) != 10 || parts[0] != "crn" {
		return CRN{}, false
	}
	return CRN{Service: parts[4], Location: parts[5], Instance: parts[7], Kind: parts[8], ID: parts[9]}, true
}

// Region returns the region of a location, which may be a zone: us-south-1 is in us-south.
func (c CRN) Region() string {
	parts := strings.Split(c.Location, "-")
	if last := parts[len(parts)-1]; len(parts) > 2 && strings.Trim(last, "0123456789") == "" {
		return strings.Join(parts[:len(parts)-1], "-")
	}
	return c.Location
}
