# Plans the module with simulated answers of AWS: templates render, and inputs that are not allowed are refused.

mock_provider "aws" {
  mock_data "aws_caller_identity" {
    defaults = { account_id = "123456789012" }
  }
  mock_data "aws_partition" {
    defaults = { partition = "aws", dns_suffix = "amazonaws.com" }
  }
  mock_data "aws_region" {
    defaults = { region = "us-east-1" }
  }
  mock_data "aws_iam_policy_document" {
    defaults = { json = "{}" }
  }
}

mock_provider "aws" {
  alias = "clusters"

  mock_data "aws_caller_identity" {
    defaults = { account_id = "210987654321" }
  }
}

variables {
  installation    = "test"
  cluster_regions = ["us-east-1", "us-west-2"]
  base_domains    = { "labs.example.com" = "Z0123456789ABC", "dev.example.com" = "Z0123456789DEF" }
  oidc_provider = {
    issuer                = "oidc.eks.us-east-1.amazonaws.com/id/0123456789ABCDEF"
    platform_provider_arn = "arn:aws:iam::123456789012:oidc-provider/oidc.eks.us-east-1.amazonaws.com/id/0123456789ABCDEF"
    clusters_provider_arn = "arn:aws:iam::210987654321:oidc-provider/oidc.eks.us-east-1.amazonaws.com/id/0123456789ABCDEF"
  }
  vpc_id                    = "vpc-0123456789abcdef0"
  private_subnet_ids        = ["subnet-a", "subnet-b"]
  server_security_group_ids = ["sg-server"]
  guardrail                 = { exempt_principals = ["arn:aws:iam::*:role/PlatformAdministrator"] }
}

run "policies_are_rendered" {
  command = apply

  assert {
    condition     = jsondecode(aws_iam_policy.runner["runner-create"].policy).Statement[0].Condition.StringEquals["aws:RequestedRegion"] == ["us-east-1", "us-west-2"]
    error_message = "The regions are not in the policy."
  }
  assert {
    condition     = length([for s in jsondecode(local.guardrail).Statement : s if s.Sid == "OnlyThePlatformPublishesClusters" && contains(s.Condition["ForAnyValue:StringLike"]["route53:ChangeResourceRecordSetsNormalizedRecordNames"], "\\052.apps.*.dev.example.com")]) == 1
    error_message = "The guardrail does not name the second base domain."
  }
  assert {
    condition     = alltrue([for p in aws_iam_policy.runner : length(p.policy) <= 6144])
    error_message = "A policy is longer than AWS allows for a managed policy."
  }
  assert {
    condition     = strcontains(aws_iam_policy.cluster_boundary.policy, "\"$${aws:PrincipalTag/ClusterId}\"") && length(aws_iam_policy.cluster_boundary.policy) <= 6144
    error_message = "The boundary of the clusters' roles does not compare the cluster's tag, or is too long."
  }
  assert {
    condition     = length(local.guardrail) <= 5120
    error_message = "The guardrail is longer than AWS allows for a service control policy."
  }
  assert {
    condition     = join(",", keys(aws_iam_role.server)) == "api,hooks,migrate,worker" && length(aws_iam_role_policy_attachment.runner) == 14
    error_message = "A role is missing, or has other policies."
  }
  assert {
    condition     = yamldecode(output.helm_values).config.artifacts.bucket == "ocpctl-artifacts-123456789012-us-east-1"
    error_message = "helm_values does not name the bucket."
  }
  # The chart's schema refuses other keys.
  assert {
    condition     = join(",", keys(yamldecode(output.helm_values))) == "components,config,migrations,roles,runner" && yamldecode(output.helm_values).roles == "apart"
    error_message = "helm_values has keys that the chart does not have."
  }
  assert {
    condition     = join(",", keys(yamldecode(output.helm_values).components)) == "api,hooks,worker" && join(",", keys(yamldecode(output.helm_values).runner.serviceAccounts)) == "create,destroy,operate,scan"
    error_message = "helm_values does not name the chart's components and service accounts."
  }
  assert {
    condition     = length(aws_s3_bucket.replica) == 0 && length(aws_organizations_policy.guardrail) == 0
    error_message = "What is optional was created."
  }
}

run "one_deployment_has_one_role_and_the_replica_is_optional" {
  command = apply

  variables {
    server_together = true
    replica_region  = "us-west-2"
    allow_mint      = true
  }

  assert {
    condition     = join(",", keys(aws_iam_role.server)) == "all,migrate" && length(aws_iam_role_policy.server) == 4
    error_message = "The role of one Deployment needs the rights of all three."
  }
  assert {
    condition     = join(",", keys(yamldecode(output.helm_values).components)) == "server" && yamldecode(output.helm_values).roles == "together"
    error_message = "helm_values is not for one Deployment."
  }
  assert {
    condition     = aws_s3_bucket.replica["us-west-2"].region == "us-west-2" && length(aws_s3_bucket_replication_configuration.artifacts) == 1
    error_message = "There is no replica in the second region."
  }
}

run "runners_assume_the_roles_of_teams" {
  command = apply

  variables {
    team_roles = ["arn:aws:iam::333344445555:role/ocpctl-team"]
  }

  assert {
    condition     = length(aws_iam_role_policy_attachment.runner) == 18 && jsondecode(aws_iam_policy.runner["runner-teams"].policy).Statement[0].Resource == ["arn:aws:iam::333344445555:role/ocpctl-team"]
    error_message = "Not every runner may assume the role of the team's account."
  }
}

run "a_teams_account_has_one_role" {
  command = apply

  module {
    source = "./team-account"
  }

  variables {
    artifacts_bucket = "ocpctl-artifacts-123456789012-us-east-1"
    trusted_arns     = ["arn:aws:iam::210987654321:role/ocpctl-runner-create"]
    external_id      = "0f2d6a1e-6a6f-4c1b-9d5d-0a6c2b9c7f11"
  }

  assert {
    condition     = length(aws_iam_role_policy_attachment.this) == 7 && alltrue([for p in aws_iam_policy.this : length(p.policy) <= 6144])
    error_message = "The role has other policies, or one is too long."
  }
}

run "an_external_id_that_can_be_guessed_is_refused" {
  command = plan

  module {
    source = "./team-account"
  }

  variables {
    artifacts_bucket = "ocpctl-artifacts-123456789012-us-east-1"
    trusted_arns     = ["arn:aws:iam::210987654321:root"]
    external_id      = "team-shop"
  }

  expect_failures = [var.trusted_arns, var.external_id]
}

run "inputs_that_are_not_allowed_are_refused" {
  command = plan

  variables {
    installation    = "Test Installation"
    cluster_regions = []
    base_domains    = { "labs.example.com." = "Z1" }
    database        = { backup_days = 7 }
    guardrail       = { exempt_principals = [] }
  }

  expect_failures = [var.installation, var.cluster_regions, var.base_domains, var.database, var.guardrail]
}
