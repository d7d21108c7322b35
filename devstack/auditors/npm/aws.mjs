// Amazon's own client for JavaScript asks the stand-in AWS everything that ocpctl asks AWS, while a cluster is there, and does some of what
// ocpctl does to it. It prints what it found of each kind, by call, as JSON.
import * as classic from "@aws-sdk/client-elastic-load-balancing";
import * as ec2 from "@aws-sdk/client-ec2";
import * as elb from "@aws-sdk/client-elastic-load-balancing-v2";
import * as iam from "@aws-sdk/client-iam";
import * as quotas from "@aws-sdk/client-service-quotas";
import * as route53 from "@aws-sdk/client-route-53";
import * as sts from "@aws-sdk/client-sts";
import * as tagging from "@aws-sdk/client-resource-groups-tagging-api";

const at = { region: "us-east-1", endpoint: process.env.AWS_ENDPOINT_URL, maxAttempts: 1 };
const clients = {
  ec2: [ec2, new ec2.EC2Client(at)], classic: [classic, new classic.ElasticLoadBalancingClient(at)], elb: [elb, new elb.ElasticLoadBalancingV2Client(at)],
  iam: [iam, new iam.IAMClient(at)], quotas: [quotas, new quotas.ServiceQuotasClient(at)], route53: [route53, new route53.Route53Client(at)],
  sts: [sts, new sts.STSClient(at)], tagging: [tagging, new tagging.ResourceGroupsTaggingAPIClient(at)],
};
const call = async (name, input) => {
  const [service, operation] = name.split(".");
  const [library, client] = clients[service];
  try {
    return await client.send(new library[`${operation}Command`](input ?? {}));
  } catch (problem) {
    throw new Error(`${name}: ${problem.name}: ${problem.message}`);
  }
};

const found = {};
const list = async (name, field, input) => {
  const items = (await call(name, input))[field];
  found[name] = Array.isArray(items) ? items.length : items === undefined ? 0 : 1;
  return items;
};

const owned = `kubernetes.io/cluster/${process.env.INFRA_ID}`;
const ours = { Filters: [{ Name: `tag:${owned}`, Values: ["owned"] }] };
const vpcs = await list("ec2.DescribeVpcs", "Vpcs", ours);
const inVPC = { Filters: [{ Name: "vpc-id", Values: [vpcs[0].VpcId] }] };
await list("ec2.DescribeAddresses", "Addresses", ours);
await list("ec2.DescribeAvailabilityZones", "AvailabilityZones");
await call("ec2.DescribeImages", { Owners: ["self"] });
await list("ec2.DescribeInstanceTypeOfferings", "InstanceTypeOfferings", { LocationType: "availability-zone" });
await list("ec2.DescribeInstanceTypes", "InstanceTypes", { InstanceTypes: ["m6i.xlarge"] });
const instances = (await list("ec2.DescribeInstances", "Reservations", ours)).flatMap((r) => r.Instances).filter((i) => i.State.Name === "running");
await list("ec2.DescribeInternetGateways", "InternetGateways", ours);
await list("ec2.DescribeNatGateways", "NatGateways", { Filter: ours.Filters });
await list("ec2.DescribeNetworkInterfaces", "NetworkInterfaces", inVPC);
await list("ec2.DescribeRegions", "Regions");
await list("ec2.DescribeRouteTables", "RouteTables", inVPC);
await list("ec2.DescribeSecurityGroups", "SecurityGroups", inVPC);
await list("ec2.DescribeSubnets", "Subnets", inVPC);
await list("ec2.DescribeVolumes", "Volumes", ours);
await list("ec2.DescribeVpcEndpoints", "VpcEndpoints", inVPC);
for (const none of ["CarrierGateways", "EgressOnlyInternetGateways", "LaunchTemplates", "PlacementGroups", "Snapshots", "VpcPeeringConnections", "DhcpOptions"]) {
  await call(`ec2.Describe${none}`);
}
const balancers = await list("elb.DescribeLoadBalancers", "LoadBalancers");
await list("elb.DescribeListeners", "Listeners", { LoadBalancerArn: balancers[0].LoadBalancerArn });
await list("elb.DescribeTags", "TagDescriptions", { ResourceArns: [balancers[0].LoadBalancerArn] });
await list("elb.DescribeTargetGroups", "TargetGroups");
await call("classic.DescribeLoadBalancers");
await list("tagging.GetResources", "ResourceTagMappingList", { TagFilters: [{ Key: owned, Values: ["owned"] }] });
await list("iam.GetAccountAuthorizationDetails", "RoleDetailList", { Filter: ["Role"] });
const roles = (await list("iam.ListRoles", "Roles")).filter((r) => r.RoleName.startsWith(process.env.INFRA_ID));
const role = { RoleName: roles[0].RoleName };
await list("iam.GetRole", "Role", role);
await list("iam.ListRolePolicies", "PolicyNames", role);
await call("iam.ListAttachedRolePolicies", role);
await list("iam.ListInstanceProfilesForRole", "InstanceProfiles", role);
await list("iam.ListInstanceProfiles", "InstanceProfiles");
await call("iam.ListOpenIDConnectProviders");
await list("iam.ListUsers", "Users");
await list("iam.GetUser", "User");
const zones = await list("route53.ListHostedZones", "HostedZones");
await list("route53.ListHostedZonesByName", "HostedZones");
const zone = zones.find((z) => z.Config.PrivateZone) ?? zones[0];
await list("route53.GetHostedZone", "HostedZone", { Id: zone.Id });
await list("route53.ListResourceRecordSets", "ResourceRecordSets", { HostedZoneId: zone.Id });
const zoneId = zone.Id.replace("/hostedzone/", "");
await list("route53.ListTagsForResource", "ResourceTagSet", { ResourceType: "hostedzone", ResourceId: zoneId });
await list("route53.ListTagsForResources", "ResourceTagSets", { ResourceType: "hostedzone", ResourceIds: [zoneId] });
await list("quotas.GetServiceQuota", "Quota", { ServiceCode: "ec2", QuotaCode: "L-1216C47A" });
await list("quotas.GetAWSDefaultServiceQuota", "Quota", { ServiceCode: "ec2", QuotaCode: "L-1216C47A" });
await list("sts.GetCallerIdentity", "Account");

// Writes, each read again.
await call("ec2.CreateTags", { Resources: [vpcs[0].VpcId], Tags: [{ Key: "audited", Value: "yes" }] });
found["ec2.CreateTags"] = (await call("ec2.DescribeVpcs", { Filters: [{ Name: "tag:audited", Values: ["yes"] }] })).Vpcs.length;
const machine = { InstanceIds: [instances[0].InstanceId] };
await call("ec2.StopInstances", machine);
await ec2.waitUntilInstanceStopped({ client: clients.ec2[1], maxWaitTime: 30, minDelay: 1, maxDelay: 1 }, machine);
found["ec2.StartInstances"] = (await call("ec2.StartInstances", machine)).StartingInstances.length;
const trust = JSON.stringify({ Version: "2012-10-17", Statement: [{ Effect: "Allow", Principal: { Service: "ec2.amazonaws.com" }, Action: "sts:AssumeRole" }] });
const own = { RoleName: "audited" };
await call("iam.CreateRole", { ...own, AssumeRolePolicyDocument: trust, Tags: [{ Key: "a", Value: "b" }] });
await call("iam.PutRolePolicy", { ...own, PolicyName: "p", PolicyDocument: JSON.stringify({ Version: "2012-10-17", Statement: [{ Effect: "Allow", Action: "ec2:*", Resource: "*" }] }) });
await call("iam.CreateInstanceProfile", { InstanceProfileName: "audited" });
await call("iam.AddRoleToInstanceProfile", { ...own, InstanceProfileName: "audited" });
found["iam.GetInstanceProfile"] = (await call("iam.GetInstanceProfile", { InstanceProfileName: "audited" })).InstanceProfile.Roles.length;
await call("iam.RemoveRoleFromInstanceProfile", { ...own, InstanceProfileName: "audited" });
await call("iam.DeleteInstanceProfile", { InstanceProfileName: "audited" });
await call("iam.DeleteRolePolicy", { ...own, PolicyName: "p" });
await call("iam.DeleteRole", own);
const change = (Action) => call("route53.ChangeResourceRecordSets", { HostedZoneId: zoneId, ChangeBatch: { Changes: [{ Action,
  ResourceRecordSet: { Name: `audited.${zone.Name}`, Type: "TXT", TTL: 60, ResourceRecords: [{ Value: '"x"' }] } }] } });
found["route53.ChangeResourceRecordSets"] = (await change("CREATE")).ChangeInfo ? 1 : 0;
await change("DELETE");
const volume = await call("ec2.CreateVolume", { AvailabilityZone: "us-east-1a", Size: 1 });
await ec2.waitUntilVolumeAvailable({ client: clients.ec2[1], maxWaitTime: 30, minDelay: 1, maxDelay: 1 }, { VolumeIds: [volume.VolumeId] });
found["ec2.CreateVolume"] = 1;
await call("ec2.DeleteVolume", { VolumeId: volume.VolumeId });
console.log(JSON.stringify(found));
