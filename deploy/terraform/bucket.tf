resource "aws_s3_bucket" "artifacts" {
  bucket = local.bucket
  tags   = local.tags

  lifecycle {
    prevent_destroy = true # without its contents, no living cluster can be destroyed completely
  }
}

resource "aws_s3_bucket_ownership_controls" "artifacts" {
  bucket = aws_s3_bucket.artifacts.id

  rule {
    object_ownership = "BucketOwnerEnforced"
  }
}

resource "aws_s3_bucket_public_access_block" "artifacts" {
  bucket                  = aws_s3_bucket.artifacts.id
  block_public_acls       = true
  block_public_policy     = true
  ignore_public_acls      = true
  restrict_public_buckets = true
}

resource "aws_s3_bucket_versioning" "artifacts" {
  bucket = aws_s3_bucket.artifacts.id

  versioning_configuration {
    status = "Enabled"
  }
}

resource "aws_s3_bucket_server_side_encryption_configuration" "artifacts" {
  bucket = aws_s3_bucket.artifacts.id

  rule {
    bucket_key_enabled = true
    apply_server_side_encryption_by_default {
      sse_algorithm     = "aws:kms"
      kms_master_key_id = aws_kms_key.artifacts.arn
    }
  }
}

# The rules stand in bucket-lifecycle.json, for buckets that are not made with Terraform too.
resource "aws_s3_bucket_lifecycle_configuration" "artifacts" {
  bucket = aws_s3_bucket.artifacts.id

  dynamic "rule" {
    for_each = jsondecode(file("${path.module}/../bucket-lifecycle.json")).Rules
    content {
      id     = rule.value.ID
      status = rule.value.Status

      filter {
        prefix = rule.value.Filter.Prefix
      }

      dynamic "abort_incomplete_multipart_upload" {
        for_each = try([rule.value.AbortIncompleteMultipartUpload.DaysAfterInitiation], [])
        content {
          days_after_initiation = abort_incomplete_multipart_upload.value
        }
      }

      dynamic "noncurrent_version_expiration" {
        for_each = try([rule.value.NoncurrentVersionExpiration.NoncurrentDays], [])
        content {
          noncurrent_days = noncurrent_version_expiration.value
        }
      }

      dynamic "expiration" {
        for_each = try([rule.value.Expiration], [])
        content {
          days                         = try(expiration.value.Days, null)
          expired_object_delete_marker = try(expiration.value.ExpiredObjectDeleteMarker, null)
        }
      }
    }
  }

  depends_on = [aws_s3_bucket_versioning.artifacts]
}

data "aws_iam_policy_document" "bucket" {
  statement {
    sid       = "OnlyTLS"
    effect    = "Deny"
    actions   = ["s3:*"]
    resources = [aws_s3_bucket.artifacts.arn, "${aws_s3_bucket.artifacts.arn}/*"]
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

  # What opens clusters is encrypted with its own key, or not stored.
  statement {
    sid       = "OperateKey"
    effect    = "Deny"
    actions   = ["s3:PutObject"]
    resources = ["${aws_s3_bucket.artifacts.arn}/operate/*"]
    principals {
      type        = "*"
      identifiers = ["*"]
    }
    condition {
      test     = "StringNotEquals"
      variable = "s3:x-amz-server-side-encryption-aws-kms-key-id"
      values   = [aws_kms_key.operate.arn]
    }
  }

  # The other objects may leave the key to the bucket's default, and may name no other.
  statement {
    sid           = "ArtifactsKey"
    effect        = "Deny"
    actions       = ["s3:PutObject"]
    not_resources = ["${aws_s3_bucket.artifacts.arn}/operate/*"]
    principals {
      type        = "*"
      identifiers = ["*"]
    }
    condition {
      test     = "StringNotEquals"
      variable = "s3:x-amz-server-side-encryption-aws-kms-key-id"
      values   = [aws_kms_key.artifacts.arn]
    }
    condition { # a negation is also met by a request that names no key
      test     = "Null"
      variable = "s3:x-amz-server-side-encryption-aws-kms-key-id"
      values   = ["false"]
    }
  }

  # A request without a key's name must leave the whole choice to the bucket, or name KMS.
  statement {
    sid       = "OnlyKMS"
    effect    = "Deny"
    actions   = ["s3:PutObject"]
    resources = ["${aws_s3_bucket.artifacts.arn}/*"]
    principals {
      type        = "*"
      identifiers = ["*"]
    }
    condition {
      test     = "StringNotEquals"
      variable = "s3:x-amz-server-side-encryption"
      values   = ["aws:kms"]
    }
    condition {
      test     = "Null"
      variable = "s3:x-amz-server-side-encryption"
      values   = ["false"]
    }
  }
}

resource "aws_s3_bucket_policy" "artifacts" {
  bucket     = aws_s3_bucket.artifacts.id
  policy     = data.aws_iam_policy_document.bucket.json
  depends_on = [aws_s3_bucket_public_access_block.artifacts]
}

resource "aws_s3_bucket_logging" "artifacts" {
  count = var.access_log_bucket != "" ? 1 : 0

  bucket        = aws_s3_bucket.artifacts.id
  target_bucket = var.access_log_bucket
  target_prefix = "s3/${local.bucket}/"
}
