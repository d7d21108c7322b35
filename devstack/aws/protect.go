package aws

import "fmt"

// protections are the ways in which AWS refuses to delete one resource, with its own words.
var protections = map[string]func(*call, *Resource) *Fault{
	"termination": func(_ *call, r *Resource) *Fault {
		return fault("OperationNotPermitted", "The instance '%s' may not be terminated. Modify its 'disableApiTermination' instance attribute and try again.", r.ID)
	},
	"deletion": func(_ *call, r *Resource) *Fault {
		return fault("OperationNotPermitted", "Load balancer '%s' cannot be deleted because deletion protection is enabled", r.ID)
	},
	"backup": func(_ *call, r *Resource) *Fault {
		if r.Type == "image" {
			return fault("AuthFailure", "This image is managed by AWS Backup and cannot be deleted via EC2 APIs. To delete this image, please use the AWS Backup APIs, CLI, or console.")
		}
		return fault("InvalidParameterValue", "This snapshot is managed by the AWS Backup service and cannot be deleted via EC2 APIs. If you wish to delete this snapshot, please do so via the Backup console.")
	},
	"scp":             denial("with an explicit deny in a service control policy"),
	"boundary":        denial("with an explicit deny in a permissions boundary"),
	"resource-policy": denial("with an explicit deny in a resource-based policy"),
	"permission":      denial("because no identity-based policy allows the action"),
	"broken":          func(*call, *Resource) *Fault { return fault("InternalError", "An internal error has occurred") },
}

func denial(why string) func(*call, *Resource) *Fault {
	return func(c *call, r *Resource) *Fault {
		return c.denied(fmt.Sprintf("User: %s is not authorized to perform: %s:%s on resource: %s %s", c.who.arn, c.service, c.action, r.ARN(), why))
	}
}

// protected refuses to delete a resource that a test protects.
func (c *call) protected(r *Resource) error {
	how := c.ProtectionOf(r)
	if how == "" {
		return nil
	}
	return protections[how](c, r)
}
