data "aws_caller_identity" "platform" {}

data "aws_caller_identity" "clusters" {
  provider = aws.clusters
}

data "aws_partition" "this" {}

data "aws_region" "this" {}

locals {
  partition        = data.aws_partition.this.partition
  platform_account = data.aws_caller_identity.platform.account_id
  clusters_account = data.aws_caller_identity.clusters.account_id
  region           = data.aws_region.this.region
  bucket           = var.bucket_name != "" ? var.bucket_name : "${var.name}-artifacts-${local.platform_account}-${local.region}"
  tags             = merge(var.tags, { "ocpctl-platform" = var.name })

  # The placeholders of the documents in policies/. Several values become one JSON list, see policies.go.
  policy_values = {
    partition        = local.partition
    dns_suffix       = data.aws_partition.this.dns_suffix
    account          = local.clusters_account
    platform_account = local.platform_account
    name             = var.name
    installation     = var.installation
    regions          = join("\",\"", var.cluster_regions)
    bucket           = local.bucket
    artifacts_key    = aws_kms_key.artifacts.arn
    artifact_keys    = join("\",\"", [aws_kms_key.artifacts.arn, aws_kms_key.operate.arn])
    cluster_records  = join("\",\"", [for domain in keys(var.base_domains) : "*.${domain}"])
    api_records      = join("\",\"", flatten([for domain in keys(var.base_domains) : ["api.*.${domain}", "api-int.*.${domain}", "\\\\052.apps.*.${domain}"]]))
    base_zones       = join("\",\"", [for zone in values(var.base_domains) : "arn:${local.partition}:route53:::hostedzone/${zone}"])
  }
}
