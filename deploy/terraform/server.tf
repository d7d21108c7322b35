# One role per Deployment of the server, and one for the Job that migrates the database. A service account assumes it with its token; the trust names the one subject and audience.

locals {
  server_roles = var.server_together ? {
    all     = { account = var.service_accounts.server, policies = ["hooks", "api", "worker"] }
    migrate = { account = var.service_accounts.migrate, policies = ["migrate"] }
    } : {
    hooks   = { account = var.service_accounts.hooks, policies = ["hooks"] }
    api     = { account = var.service_accounts.api, policies = ["api"] }
    worker  = { account = var.service_accounts.worker, policies = ["worker"] }
    migrate = { account = var.service_accounts.migrate, policies = ["migrate"] }
  }

  server_policy_values = {
    secrets_key     = aws_kms_key.secrets.arn
    hooks_secrets   = join("\",\"", local.secrets_of["hooks"])
    api_secrets     = join("\",\"", local.secrets_of["api"])
    worker_secrets  = join("\",\"", local.secrets_of["worker"])
    migrate_secrets = join("\",\"", local.secrets_of["migrate"])
  }

  server_policies = merge([
    for role, settings in local.server_roles : {
      for policy in settings.policies : "${role}-${policy}" => { role = role, policy = policy }
    }
  ]...)
}

data "aws_iam_policy_document" "server_trust" {
  for_each = local.server_roles

  statement {
    actions = ["sts:AssumeRoleWithWebIdentity"]
    principals {
      type        = "Federated"
      identifiers = [var.oidc_provider.platform_provider_arn]
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

resource "aws_iam_role" "server" {
  for_each = local.server_roles

  name               = "${var.name}-server-${each.key}"
  assume_role_policy = data.aws_iam_policy_document.server_trust[each.key].json
  tags               = local.tags
}

resource "aws_iam_role_policy" "server" {
  for_each = local.server_policies

  name   = each.value.policy
  role   = aws_iam_role.server[each.value.role].name
  policy = templatefile("${path.module}/policies/server-${each.value.policy}.json", merge(local.policy_values, local.server_policy_values))
}

# The role for the runners' parts of the bucket: the server's role api assumes it for one attempt and restricts the session further.
data "aws_iam_policy_document" "runner_artifacts_trust" {
  statement {
    actions = ["sts:AssumeRole"]
    principals {
      type        = "AWS"
      identifiers = [aws_iam_role.server[var.server_together ? "all" : "api"].arn]
    }
  }
}

resource "aws_iam_role" "runner_artifacts" {
  name               = "${var.name}-runner-artifacts"
  assume_role_policy = data.aws_iam_policy_document.runner_artifacts_trust.json
  tags               = local.tags
}

resource "aws_iam_role_policy" "runner_artifacts" {
  name   = "artifacts"
  role   = aws_iam_role.runner_artifacts.name
  policy = templatefile("${path.module}/policies/runner-artifacts.json", local.policy_values)
}
