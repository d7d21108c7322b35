package count

import (
	"context"
	"fmt"
	"strings"

	"github.com/ocpctl/ocpctl/runner/cloud/aws/kinds"
)

// ec2Question queries one kind with one filter. It lists an image's snapshots with it: they outlive it and have neither tag nor name.
func (c *Client) ec2Question(region string, kind kinds.EC2, filter string, values ...string) question {
	return question{
		service: "ec2", call: kind.Call, region: region, asked: filter + "=" + strings.Join(values, ","),
		ask: func(ctx context.Context) ([]thing, error) {
			found, err := kind.Find(ctx, c.ec2In(region), filter, values)
			var things []thing
			for _, r := range found {
				things = append(things, ec2Thing(kind.Noun, region, r))
				if kind.Noun != "image" {
					continue
				}
				for _, snapshot := range r.Holds {
					things = append(things, ec2Thing("snapshot", region, kinds.Resource{
						ID: snapshot.ID, Name: "of image " + r.Name, Tags: r.Tags, Detail: snapshot.Detail,
					}))
				}
			}
			return things, err
		},
	}
}

// administrator can remove most resources.
const administrator = "an administrator of the account"

// ec2Thing says who can remove an EC2 resource and how.
func ec2Thing(noun, region string, r kinds.Resource) thing {
	t := thing{kind: noun, Resource: r, free: administrator}
	for _, k := range kinds.AllEC2 {
		if k.Noun == noun {
			t.command = fmt.Sprintf("aws ec2 %s %s --region %s", k.Delete, r.ID, region)
		}
	}
	switch noun {
	case "network-interface", "security-group":
		t.remark = "first delete what uses it: a load balancer or an endpoint made by a workload"
	case "volume", "snapshot":
		t.remark = "made by a workload's persistent volume; ask its owner whether the data may go"
	case "image":
		t.remark = "then delete its snapshots"
	case "subnet", "internet-gateway", "vpc":
		t.remark = "after everything in it is gone"
	}
	return t
}
