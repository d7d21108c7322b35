# The role that ocpctl assumes in an account of somebody else, for credentials.role of the account's document. Apply it there.

terraform {
  required_version = ">= 1.9"

  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = "~> 6.25"
    }
  }
}

data "aws_caller_identity" "this" {}

data "aws_partition" "this" {}

locals {
  partition = data.aws_partition.this.partition
  tags      = merge(var.tags, { "ocpctl-platform" = var.name })
  policies  = toset(["runner-read", "runner-create", "runner-delete", "runner-identity", "runner-power", "runner-guard", "scan-read"])

  # As in ../locals.tf.
  policy_values = {
    partition       = local.partition
    dns_suffix      = data.aws_partition.this.dns_suffix
    account         = data.aws_caller_identity.this.account_id
    name            = var.name
    installation    = var.installation
    regions         = join("\",\"", var.cluster_regions)
    bucket          = var.artifacts_bucket
    cluster_records = join("\",\"", [for domain in keys(var.base_domains) : "*.${domain}"])
    base_zones      = join("\",\"", [for zone in values(var.base_domains) : "arn:${local.partition}:route53:::hostedzone/${zone}"])
  }
}

data "aws_iam_policy_document" "trust" {
  statement {
    actions = ["sts:AssumeRole"]
    principals {
      type        = "AWS"
      identifiers = var.trusted_arns
    }
    condition {
      test     = "StringEquals"
      variable = "sts:ExternalId"
      values   = [var.external_id]
    }
  }
}

resource "aws_iam_role" "this" {
  name               = "${var.name}-team"
  assume_role_policy = data.aws_iam_policy_document.trust.json
  tags               = local.tags
}

resource "aws_iam_policy" "this" {
  for_each = local.policies

  name   = "${var.name}-${each.key}"
  policy = jsonencode(jsondecode(templatefile("${path.module}/../policies/${each.key}.json", local.policy_values)))
  tags   = local.tags
}

resource "aws_iam_role_policy_attachment" "this" {
  for_each = local.policies

  role       = aws_iam_role.this.name
  policy_arn = aws_iam_policy.this[each.key].arn
}

# The most that the roles of a cluster's operators may do. The role can create such roles only with this boundary.
resource "aws_iam_policy" "cluster_boundary" {
  name   = "${var.name}-cluster-boundary"
  policy = jsonencode(jsondecode(templatefile("${path.module}/../policies/cluster-boundary.json", local.policy_values)))
  tags   = local.tags
}
