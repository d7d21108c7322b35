package aws

import (
	"cmp"
	"encoding/xml"
	"maps"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/devstack/aws/iampolicy"
	"github.com/ocpctl/ocpctl/devstack/aws/session"
)

// right is one permission that a call needs: an action on a resource, with the keys that a policy's conditions can ask for.
type right struct {
	action, resource string
	keys             map[string][]string
}

// permitted refuses a call that the caller's policies do not allow. The administrator has none and may do everything. A call may need
// several rights, for each resource that it names, and each policy must allow all of them.
func (c *call) permitted() *Fault {
	if action := c.iamAction(); action == "sts:GetCallerIdentity" || action == "sts:"+webIdentity { // AWS requires no permission
		return nil
	}
	c.server.record(c.who.arn, c.iamAction())
	if len(c.who.policies) == 0 {
		return nil
	}
	needs := c.rights()
	for _, raw := range c.who.policies {
		policy, err := c.server.parsed(raw)
		if err != nil {
			return fault("MalformedPolicyDocument", "%s", err)
		}
		for _, need := range needs {
			switch policy.Evaluate(need.action, need.resource, need.keys) {
			case iampolicy.Deny:
				return c.unauthorized(need, "with an explicit deny in an identity-based policy")
			case iampolicy.NoMatch:
				return c.unauthorized(need, "because no identity-based policy allows the "+need.action+" action")
			}
		}
	}
	return nil
}

// parsed returns a policy, which is parsed once: it is long, and every call of a runner asks for it.
func (s *Server) parsed(raw string) (iampolicy.Document, error) {
	if known, ok := s.documents.Load(raw); ok {
		return known.(iampolicy.Document), nil
	}
	document, err := iampolicy.Parse(raw)
	if err == nil {
		s.documents.Store(raw, document)
	}
	return document, err
}

func (c *call) unauthorized(need right, why string) *Fault {
	const text = "User: %s is not authorized to perform: %s on resource: %s %s"
	switch {
	case c.service == "ec2":
		return fault("UnauthorizedOperation", "You are not authorized to perform this operation. "+text, c.who.arn, need.action, need.resource, why)
	case speaksJSON[c.service]:
		return fault("AccessDeniedException", text, c.who.arn, need.action, need.resource, why)
	}
	return fault("AccessDenied", text, c.who.arn, need.action, need.resource, why)
}

// iamAction returns the call's action as policies name it.
func (c *call) iamAction() string {
	switch {
	case c.service == "tagging":
		return "tag:" + c.action
	case c.service == "s3" && c.action == "DeleteBucketPublicAccessBlock": // one right for both
		return "s3:PutBucketPublicAccessBlock"
	case c.service == "s3" && c.action == "ListBuckets":
		return "s3:ListAllMyBuckets"
	}
	return c.service + ":" + c.action
}

// rights lists what the call needs. A call that names no resource needs its action on "*".
func (c *call) rights() []right {
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	c.world = c.server.world
	defer func() { c.world = nil }()
	var out []right
	for _, r := range c.resources() {
		keys := maps.Clone(c.requestKeys(r))
		if r.found != nil {
			for k, v := range r.found.Tags {
				keys["aws:ResourceTag/"+k] = []string{v}
			}
			if boundary := r.found.Attrs["boundary"]; boundary != "" && c.params.get("PermissionsBoundary") == "" {
				keys["iam:PermissionsBoundary"] = []string{boundary}
			}
		}
		out = append(out, right{c.iamAction(), r.arn, keys})
		if c.service == "ec2" && r.found == nil && len(r.tags) > 0 && !strings.HasSuffix(c.action, "Tags") { // what is created with tags is also tagged
			keys = maps.Clone(keys)
			keys["ec2:CreateAction"] = []string{c.action}
			out = append(out, right{"ec2:CreateTags", r.arn, keys})
		}
	}
	return append(out, c.passedRoles()...)
}

// target is one resource of a call: one that exists, or one that the call creates.
type target struct {
	arn   string
	found *Resource
	tags  map[string]string // of the request
}

// requestKeys returns the condition keys that do not depend on what exists.
func (c *call) requestKeys(r target) map[string][]string {
	keys := session.TagKeys(c.who.tags)
	keys["aws:RequestedRegion"], keys["aws:PrincipalArn"] = []string{c.region}, []string{c.who.principal()}
	if global(c.service) {
		keys["aws:RequestedRegion"] = []string{"us-east-1"}
	}
	for _, k := range slices.Sorted(maps.Keys(r.tags)) {
		keys["aws:RequestTag/"+k] = []string{r.tags[k]}
		keys["aws:TagKeys"] = append(keys["aws:TagKeys"], k)
	}
	if boundary := c.params.get("PermissionsBoundary"); boundary != "" {
		keys["iam:PermissionsBoundary"] = []string{boundary}
	}
	if c.action == "ChangeResourceRecordSets" {
		keys["route53:ChangeResourceRecordSetsNormalizedRecordNames"] = c.recordNames()
	}
	return keys
}

// recordNames returns the names of a change batch as AWS normalizes them: lower case, without the final dot.
func (c *call) recordNames() (names []string) {
	var batch changeBatch
	if xml.Unmarshal(c.body, &batch) != nil {
		return nil
	}
	for _, change := range batch.Changes {
		names = append(names, strings.TrimSuffix(dnsName(change.Set.Name), "."))
	}
	return names
}

// resources returns what the call creates or names.
func (c *call) resources() []target {
	var out []target
	switch c.service {
	case "ec2":
		out = c.ec2Resources()
	case "elasticloadbalancing":
		out = c.balancerResources()
	case "iam":
		out = c.iamResources()
	case "route53":
		if len(c.path) > 0 && !strings.Contains(c.action, "Change/") && c.action != "GetChange" {
			out = c.known(target{arn: "arn:aws:route53:::hostedzone/" + c.path[0]}, c.path[0])
		}
	case "s3":
		if len(c.path) > 0 {
			out = []target{{arn: "arn:aws:s3:::" + c.path[0]}}
		}
	case "sts":
		out = []target{{arn: cmp.Or(c.params.get("RoleArn"), "*")}}
	}
	if len(out) == 0 {
		return []target{{arn: "*", tags: c.params.tags("Tags")}}
	}
	return out
}

// known completes a target with the resource that has the id, if there is one.
func (c *call) known(t target, id string) []target {
	t.found = c.First(func(r *Resource) bool { return r.ID == id && r.Account == c.Account })
	return []target{t}
}

// ec2Resources returns what the call creates, by its tags, and what it names by id. Describe calls support no resources in AWS.
func (c *call) ec2Resources() (out []target) {
	if reads(c.action) {
		return nil
	}
	for _, kind := range creates[c.action] {
		out = append(out, target{arn: c.ec2ARN(kind, "*"), tags: c.params.tagsFor(kind)})
	}
	given := map[string]bool{}
	for name, values := range c.params {
		if last := strings.TrimRight(name, ".0123456789"); strings.HasSuffix(last, "Id") {
			given[values[0]] = true
		}
	}
	for _, r := range c.Every(func(r *Resource) bool { return given[r.ID] && r.Service == "ec2" && r.Account == c.Account }) {
		out = append(out, target{arn: c.ec2ARN(r.Type, r.ID), found: r, tags: c.params.tags("Tag")})
	}
	if len(out) == 0 {
		out = []target{{arn: "*", tags: c.params.tags("Tag")}}
	}
	return out
}

// creates are the calls for which policies distinguish what is created from what is used for it.
var creates = map[string][]string{
	"RunInstances": {"instance", "volume"}, "CreateVpc": {"vpc"}, "CreateNatGateway": {"natgateway"}, "AllocateAddress": {"elastic-ip"}, "CreateSubnet": {"subnet"},
	"CreateVolume": {"volume"}, "CreateSnapshot": {"snapshot"}, "CreateSecurityGroup": {"security-group"},
}

func (c *call) ec2ARN(kind, id string) string {
	return "arn:aws:ec2:" + c.region + ":" + c.Account + ":" + kind + "/" + id
}

func (c *call) balancerResources() (out []target) {
	var named []string
	for _, param := range []string{"LoadBalancerArn", "TargetGroupArn", "ListenerArn"} {
		if arn := c.params.get(param); arn != "" {
			named = append(named, arn)
		}
	}
	for _, name := range append(c.params.list("LoadBalancerNames"), c.params.get("LoadBalancerName")) { // of a classic one
		if r := c.classic(name); r != nil && !reads(c.action) {
			out = append(out, target{arn: r.ID, found: r, tags: c.params.tags("Tags")})
		}
	}
	for _, arn := range append(named, c.params.list("ResourceArns")...) {
		for _, t := range c.known(target{arn: arn}, arn) {
			t.tags = c.params.tags("Tags")
			out = append(out, t)
		}
	}
	return out
}

// iamResources returns the one entity that a call is about. A call on an instance profile also names a role, which is passed.
func (c *call) iamResources() []target {
	if arn := c.params.get("OpenIDConnectProviderArn"); arn != "" {
		_, name, _ := strings.Cut(arn, ":oidc-provider/")
		return []target{{arn: arn, found: c.named("oidc-provider", name), tags: c.params.tags("Tags")}}
	}
	if address, is := strings.CutPrefix(c.params.get("Url"), "https://"); is {
		return []target{{arn: c.iamARN("oidc-provider", address), tags: c.params.tags("Tags")}}
	}
	for _, e := range []entity{profile, role, user} {
		if name := c.params.get(e.param); name != "" {
			return []target{{arn: c.iamARN(e.typ, name), found: c.named(e.typ, name), tags: c.params.tags("Tags")}}
		}
	}
	return nil
}

func (c *call) iamARN(kind, name string) string {
	return "arn:aws:iam::" + c.Account + ":" + kind + "/" + name
}

// passedRoles returns the rights to pass roles to machines.
func (c *call) passedRoles() (out []right) {
	var roles []string
	switch c.action {
	case "AddRoleToInstanceProfile":
		roles = []string{c.params.get("RoleName")}
	case "RunInstances":
		if p := c.named("instance-profile", c.params.get("IamInstanceProfile.Name")); p != nil {
			for _, id := range p.Uses {
				roles = append(roles, strings.TrimPrefix(id, "role/"))
			}
		}
	}
	for _, name := range roles {
		keys := session.TagKeys(c.who.tags)
		keys["iam:PassedToService"] = []string{"ec2.amazonaws.com"}
		out = append(out, right{"iam:PassRole", c.iamARN("role", name), keys})
	}
	return out
}

// record notes that a caller used an action.
func (s *Server) record(arn, action string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.used[arn] == nil {
		s.used[arn] = map[string]bool{}
	}
	s.used[arn][action] = true
}

// ActionsOf returns the IAM actions that a caller has used since the start or the last ForgetActions, sorted, whether they were allowed or not.
func (s *Server) ActionsOf(arn string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.used[arn]))
}

// ForgetActions begins the list of ActionsOf anew.
func (s *Server) ForgetActions() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.used)
}
