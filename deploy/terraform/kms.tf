# Two keys, so that the right to read what a teardown needs is not the right to open a cluster.

locals {
  server_role_names = [for role in keys(local.server_roles) : "${var.name}-server-${role}"]

  # Key administrators may not use a key, and only the platform's roles may, through the service that stores the data. Conditions
  # instead of principals: a key can be created before its roles.
  key_users = {
    artifacts = {
      roles   = concat(local.server_role_names, ["${var.name}-runner-artifacts", "${var.name}-replication"])
      service = "s3"
    }
    operate = {
      roles   = concat([for name in local.server_role_names : name if name == "${var.name}-server-api" || name == "${var.name}-server-all"], ["${var.name}-runner-artifacts"])
      service = "s3"
    }
    secrets = {
      roles   = local.server_role_names
      service = "secretsmanager"
    }
  }
}

data "aws_iam_policy_document" "key" {
  for_each = local.key_users

  statement {
    sid = "Administration"
    actions = [
      "kms:CancelKeyDeletion", "kms:Create*", "kms:Describe*", "kms:Disable*", "kms:Enable*", "kms:Get*", "kms:List*", "kms:Put*",
      "kms:Revoke*", "kms:ScheduleKeyDeletion", "kms:TagResource", "kms:UntagResource", "kms:Update*",
    ]
    resources = ["*"]
    principals {
      type        = "AWS"
      identifiers = ["arn:${local.partition}:iam::${local.platform_account}:root"]
    }
  }

  statement {
    sid       = "UseByThePlatform"
    actions   = ["kms:Decrypt", "kms:DescribeKey", "kms:Encrypt", "kms:GenerateDataKey", "kms:ReEncryptFrom", "kms:ReEncryptTo"]
    resources = ["*"]
    principals {
      type        = "AWS"
      identifiers = ["arn:${local.partition}:iam::${local.platform_account}:root"]
    }
    condition {
      test     = "ArnLike"
      variable = "aws:PrincipalArn"
      values   = [for role in each.value.roles : "arn:${local.partition}:iam::${local.platform_account}:role/${role}"]
    }
    condition {
      test     = "StringLike"
      variable = "kms:ViaService"
      values   = ["${each.value.service}.*.${data.aws_partition.this.dns_suffix}"]
    }
  }

  # Whoever fills the secrets needs the key for it; Secrets Manager's own permissions say who that is.
  dynamic "statement" {
    for_each = each.key == "secrets" ? ["write"] : []
    content {
      sid       = "FillSecrets"
      actions   = ["kms:Decrypt", "kms:GenerateDataKey"]
      resources = ["*"]
      principals {
        type        = "AWS"
        identifiers = ["arn:${local.partition}:iam::${local.platform_account}:root"]
      }
      condition {
        test     = "ArnLike"
        variable = "aws:PrincipalArn"
        values   = var.guardrail.exempt_principals
      }
      condition {
        test     = "StringLike"
        variable = "kms:ViaService"
        values   = ["secretsmanager.*.${data.aws_partition.this.dns_suffix}"]
      }
    }
  }
}

resource "aws_kms_key" "artifacts" {
  description             = "${var.name}: what the teardown of a cluster needs, and logs"
  enable_key_rotation     = true
  deletion_window_in_days = 30
  policy                  = data.aws_iam_policy_document.key["artifacts"].json
  tags                    = local.tags
}

resource "aws_kms_key" "operate" {
  description             = "${var.name}: what opens clusters"
  enable_key_rotation     = true
  deletion_window_in_days = 30
  policy                  = data.aws_iam_policy_document.key["operate"].json
  tags                    = local.tags
}

resource "aws_kms_key" "secrets" {
  description             = "${var.name}: the server's secrets"
  enable_key_rotation     = true
  deletion_window_in_days = 30
  policy                  = data.aws_iam_policy_document.key["secrets"].json
  tags                    = local.tags
}

# RDS creates grants for its key, which the policies above do not allow; the default policy leaves that to IAM.
resource "aws_kms_key" "database" {
  description             = "${var.name}: the database and its master password"
  enable_key_rotation     = true
  deletion_window_in_days = 30
  tags                    = local.tags
}

resource "aws_kms_alias" "this" {
  for_each = {
    artifacts = aws_kms_key.artifacts.key_id
    operate   = aws_kms_key.operate.key_id
    secrets   = aws_kms_key.secrets.key_id
    database  = aws_kms_key.database.key_id
  }

  name          = "alias/${var.name}-${each.key}"
  target_key_id = each.value
}
