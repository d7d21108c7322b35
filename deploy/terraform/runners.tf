# The runners' roles, in the account of the clusters. policies/ has their permissions, and policies/permissions.json says who needs each.

locals {
  mint  = var.allow_mint ? ["runner-mint"] : []
  teams = length(var.team_roles) > 0 ? ["runner-teams"] : []

  runner_roles = {
    create  = { account = var.service_accounts.runner_create, policies = concat(["runner-read", "runner-create", "runner-identity", "runner-guard", "runner-secrets"], local.mint, local.teams) }
    destroy = { account = var.service_accounts.runner_destroy, policies = concat(["runner-read", "runner-delete", "runner-guard", "runner-secrets"], local.mint, local.teams) }
    operate = { account = var.service_accounts.runner_operate, policies = concat(["runner-read", "runner-power", "runner-guard", "runner-secrets"], local.teams) }
    scan    = { account = var.service_accounts.runner_scan, policies = concat(["scan-read"], local.teams) }
  }

  runner_policy_values = {
    secrets_key    = aws_kms_key.runner_secrets.arn
    runner_secrets = join("\",\"", [for secret in aws_secretsmanager_secret.runner : secret.arn])
    team_roles     = join("\",\"", var.team_roles)
  }

  runner_attachments = merge([
    for role, settings in local.runner_roles : {
      for policy in settings.policies : "${role}-${policy}" => { role = role, policy = policy }
    }
  ]...)
}

data "aws_iam_policy_document" "runner_trust" {
  for_each = local.runner_roles

  statement {
    actions = ["sts:AssumeRoleWithWebIdentity"]
    principals {
      type        = "Federated"
      identifiers = [var.oidc_provider.clusters_provider_arn]
    }
    condition {
      test     = "StringEquals"
      variable = "${var.oidc_provider.issuer}:sub"
      values   = ["system:serviceaccount:${replace(each.value.account, "/", ":")}"]
    }
    condition {
      test     = "StringEquals"
      variable = "${var.oidc_provider.issuer}:aud"
      values   = [var.oidc_provider.audience]
    }
  }
}

resource "aws_iam_role" "runner" {
  provider = aws.clusters
  for_each = local.runner_roles

  name               = "${var.name}-runner-${each.key}"
  assume_role_policy = data.aws_iam_policy_document.runner_trust[each.key].json
  tags               = local.tags
}

resource "aws_iam_policy" "runner" {
  provider = aws.clusters
  for_each = toset(flatten([for role in local.runner_roles : role.policies]))

  name   = "${var.name}-${each.key}"
  policy = jsonencode(jsondecode(templatefile("${path.module}/policies/${each.key}.json", merge(local.policy_values, local.runner_policy_values))))
  tags   = local.tags
}

resource "aws_iam_role_policy_attachment" "runner" {
  provider = aws.clusters
  for_each = local.runner_attachments

  role       = aws_iam_role.runner[each.value.role].name
  policy_arn = aws_iam_policy.runner[each.value.policy].arn
}

# The most that the roles of a cluster's operators may do. Runners can create such roles only with this boundary.
resource "aws_iam_policy" "cluster_boundary" {
  provider = aws.clusters

  name   = "${var.name}-cluster-boundary"
  policy = jsonencode(jsondecode(templatefile("${path.module}/policies/cluster-boundary.json", local.policy_values)))
  tags   = local.tags
}
