package aws

import "net/http"

// A look through an account asks for more services than a cluster uses. Of these nothing exists here, and their lists say so.

var (
	cloudFormation = queryProtocol("http://cloudformation.amazonaws.com/doc/2010-05-15/", map[string]handler{"ListStacks": emptyList("StackSummaries")})
	autoScaling    = queryProtocol("http://autoscaling.amazonaws.com/doc/2011-01-01/", map[string]handler{
		"DescribeAutoScalingGroups": emptyList("AutoScalingGroups"), "DescribeLaunchConfigurations": emptyList("LaunchConfigurations"),
	})
	queues      = queryProtocol("http://queue.amazonaws.com/doc/2012-11-05/", map[string]handler{"ListQueues": emptyList("")})
	kubernetes  = emptyREST("clusters", "ListClusters", "clusters")
	fileSystems = emptyREST("2015-02-01/file-systems", "DescribeFileSystems", "FileSystems")
)

func emptyList(name string) handler {
	return func(*call) ([]node, error) {
		if name == "" {
			return nil, nil
		}
		return []node{group(name)}, nil
	}
}

// emptyREST is a REST service with JSON that has one list.
func emptyREST(path, action, list string) protocol {
	handlers := map[string]handler{action: func(c *call) ([]node, error) {
		c.json = map[string][]string{list: {}}
		return nil, nil
	}}
	p := jsonProtocol("", handlers)
	p.read = restProtocol("", []route{{http.MethodGet, path, action}}, handlers).read
	return p
}
