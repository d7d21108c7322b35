# The replica has what a teardown needs: with it and the cloud's tags, every cluster can be found and destroyed from the second region.
# What opens clusters is not replicated, because deletions of versions are not replicated either.

locals {
  replicas = var.replica_region != "" ? toset([var.replica_region]) : toset([])
}

resource "aws_kms_key" "replica" {
  for_each = local.replicas

  region                  = each.key
  description             = "${var.name}: the replica of the artifacts"
  enable_key_rotation     = true
  deletion_window_in_days = 30
  tags                    = local.tags
}

resource "aws_s3_bucket" "replica" {
  for_each = local.replicas

  region = each.key
  bucket = "${var.name}-artifacts-${local.platform_account}-${each.key}"
  tags   = local.tags
}

resource "aws_s3_bucket_ownership_controls" "replica" {
  for_each = local.replicas

  region = each.key
  bucket = aws_s3_bucket.replica[each.key].id

  rule {
    object_ownership = "BucketOwnerEnforced"
  }
}

resource "aws_s3_bucket_public_access_block" "replica" {
  for_each = local.replicas

  region                  = each.key
  bucket                  = aws_s3_bucket.replica[each.key].id
  block_public_acls       = true
  block_public_policy     = true
  ignore_public_acls      = true
  restrict_public_buckets = true
}

resource "aws_s3_bucket_versioning" "replica" {
  for_each = local.replicas

  region = each.key
  bucket = aws_s3_bucket.replica[each.key].id

  versioning_configuration {
    status = "Enabled"
  }
}

resource "aws_s3_bucket_server_side_encryption_configuration" "replica" {
  for_each = local.replicas

  region = each.key
  bucket = aws_s3_bucket.replica[each.key].id

  rule {
    bucket_key_enabled = true
    apply_server_side_encryption_by_default {
      sse_algorithm     = "aws:kms"
      kms_master_key_id = aws_kms_key.replica[each.key].arn
    }
  }
}

resource "aws_s3_bucket_lifecycle_configuration" "replica" {
  for_each = local.replicas

  region = each.key
  bucket = aws_s3_bucket.replica[each.key].id

  rule {
    id     = "old-objects"
    status = "Enabled"
    filter {
      prefix = ""
    }
    expiration {
      days = var.replica_retention_days
    }
    noncurrent_version_expiration {
      noncurrent_days = 7
    }
    abort_incomplete_multipart_upload {
      days_after_initiation = 1
    }
  }

  depends_on = [aws_s3_bucket_versioning.replica]
}

data "aws_iam_policy_document" "replica" {
  for_each = local.replicas

  statement {
    sid       = "OnlyTLS"
    effect    = "Deny"
    actions   = ["s3:*"]
    resources = [aws_s3_bucket.replica[each.key].arn, "${aws_s3_bucket.replica[each.key].arn}/*"]
    principals {
      type        = "*"
      identifiers = ["*"]
    }
    condition {
      test     = "Bool"
      variable = "aws:SecureTransport"
      values   = ["false"]
    }
  }
}

resource "aws_s3_bucket_policy" "replica" {
  for_each = local.replicas

  region = each.key
  bucket = aws_s3_bucket.replica[each.key].id
  policy = data.aws_iam_policy_document.replica[each.key].json
}

data "aws_iam_policy_document" "replication_trust" {
  statement {
    actions = ["sts:AssumeRole"]
    principals {
      type        = "Service"
      identifiers = ["s3.amazonaws.com"]
    }
    condition {
      test     = "StringEquals"
      variable = "aws:SourceAccount"
      values   = [local.platform_account]
    }
  }
}

data "aws_iam_policy_document" "replication" {
  for_each = local.replicas

  statement {
    actions   = ["s3:GetReplicationConfiguration", "s3:ListBucket"]
    resources = [aws_s3_bucket.artifacts.arn]
  }
  statement {
    actions   = ["s3:GetObjectVersionAcl", "s3:GetObjectVersionForReplication", "s3:GetObjectVersionTagging"]
    resources = ["${aws_s3_bucket.artifacts.arn}/*"]
  }
  statement {
    actions   = ["s3:ReplicateDelete", "s3:ReplicateObject", "s3:ReplicateTags"]
    resources = ["${aws_s3_bucket.replica[each.key].arn}/*"]
  }
  statement {
    actions   = ["kms:Decrypt"]
    resources = [aws_kms_key.artifacts.arn]
    condition {
      test     = "StringEquals"
      variable = "kms:ViaService"
      values   = ["s3.${local.region}.${data.aws_partition.this.dns_suffix}"]
    }
  }
  statement {
    actions   = ["kms:Encrypt"]
    resources = [aws_kms_key.replica[each.key].arn]
    condition {
      test     = "StringEquals"
      variable = "kms:ViaService"
      values   = ["s3.${each.key}.${data.aws_partition.this.dns_suffix}"]
    }
  }
}

resource "aws_iam_role" "replication" {
  for_each = local.replicas

  name               = "${var.name}-replication"
  assume_role_policy = data.aws_iam_policy_document.replication_trust.json
  tags               = local.tags
}

resource "aws_iam_role_policy" "replication" {
  for_each = local.replicas

  name   = "replication"
  role   = aws_iam_role.replication[each.key].name
  policy = data.aws_iam_policy_document.replication[each.key].json
}

resource "aws_s3_bucket_replication_configuration" "artifacts" {
  for_each = local.replicas

  bucket = aws_s3_bucket.artifacts.id
  role   = aws_iam_role.replication[each.key].arn

  dynamic "rule" {
    for_each = { "clusters/" = 1, "spool/" = 2 }
    content {
      id       = trimsuffix(rule.key, "/")
      priority = rule.value
      status   = "Enabled"

      filter {
        prefix = rule.key
      }
      delete_marker_replication {
        status = "Enabled"
      }
      source_selection_criteria {
        sse_kms_encrypted_objects {
          status = "Enabled"
        }
      }
      destination {
        bucket        = aws_s3_bucket.replica[each.key].arn
        storage_class = "STANDARD_IA"
        encryption_configuration {
          replica_kms_key_id = aws_kms_key.replica[each.key].arn
        }
      }
    }
  }

  depends_on = [aws_s3_bucket_versioning.artifacts, aws_s3_bucket_versioning.replica]
}
