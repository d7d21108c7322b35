package chatops

// turn says who can do something about a failure, and what.
type turn struct{ whose, next string }

// turns knows the reasons a create attempt fails with. What is not in it is nobody's fault that we know of.
var turns = map[string]turn{
	"CredentialsRefused":     {"the platform team", "The runner's cloud credentials have to be put right. Then ask again with `/ocp create`."},
	"WrongAccount":           {"the platform team", "The runner's credentials belong to another cloud account than the cluster. Then ask again with `/ocp create`."},
	"ZoneMissing":            {"the platform team", "The public DNS zone of the base domain has to exist in the account. Then ask again with `/ocp create`."},
	"NameInUse":              {"yours", "Ask again with another name: `/ocp create --name <name>`."},
	"ZoneNotOffered":         {"yours", "Ask again in another region: `/ocp create --region <region>`."},
	"InstanceTypeNotOffered": {"yours", "Ask again in another region: `/ocp create --region <region>`."},
	"lost":                   {"nobody's", "The runner was lost, which happens. Ask again with `/ocp create`."},
}

func turnOf(reason string) turn {
	if t, known := turns[reason]; known {
		return t
	}
	return turn{"yours to ask again; the platform team's if it repeats", "Ask again with `/ocp create`; the log of the cluster's page tells more."}
}
