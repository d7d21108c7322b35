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
				things = append(things, thing{kind: kind.Noun, free: explainEC2(kind.Noun, r.ID, region), Resource: r})
				if kind.Noun != "image" {
					continue
				}
				for _, snapshot := range r.Holds {
					things = append(things, thing{kind: "snapshot", free: explainEC2("snapshot", snapshot.ID, region), Resource: kinds.Resource{
						ID: snapshot.ID, Name: "of image " + r.Name, Tags: r.Tags, Detail: snapshot.Detail,
					}})
				}
			}
			return things, err
		},
	}
}

// explainEC2 says who can remove an EC2 resource and how.
func explainEC2(noun, id, region string) string {
	command := ""
	for _, k := range kinds.AllEC2 {
		if k.Noun == noun {
			command = k.Delete
		}
	}
	free := fmt.Sprintf("an administrator of the account: aws ec2 %s %s --region %s", command, id, region)
	switch noun {
	case "network-interface", "security-group":
		free += " (first delete what uses it: a load balancer or an endpoint made by a workload)"
	case "volume", "snapshot":
		free += " (made by a workload's persistent volume; ask its owner whether the data may go)"
	case "image":
		free += " (then delete its snapshots)"
	case "subnet", "internet-gateway", "vpc":
		free += " (after everything in it is gone)"
	}
	return free
}
