output "bucket" {
  description = "Name of the artifacts bucket."
  value       = aws_s3_bucket.artifacts.bucket
}

output "database_address" {
  description = "Host and port of PostgreSQL."
  value       = aws_db_instance.this.endpoint
}

output "database_master_secret_arn" {
  description = "The secret with the master user's password, managed by RDS. The server does not use it."
  value       = one(aws_db_instance.this.master_user_secret[*].secret_arn)
}

output "secret_arns" {
  description = "The empty secrets, by name. Put the values in before the server starts."
  value       = merge({ for name, secret in aws_secretsmanager_secret.server : name => secret.arn }, { for name, secret in aws_secretsmanager_secret.runner : name => secret.arn })
}

output "server_role_arns" {
  description = "The server's roles: all, or hooks, api and worker; and migrate."
  value       = { for name, role in aws_iam_role.server : name => role.arn }
}

output "runner_role_arns" {
  description = "The runners' roles: create, destroy, operate and scan."
  value       = { for name, role in aws_iam_role.runner : name => role.arn }
}

output "guardrail_policy_arn" {
  description = "The guardrail as an IAM policy, to attach to the roles of people."
  value       = aws_iam_policy.guardrail.arn
}

output "helm_values" {
  description = "YAML for the Helm chart: the part of the server's configuration that this module knows, and the role of each service account."
  value = yamlencode({
    config = {
      installation     = var.installation
      account          = local.clusters_account
      database_url_ref = "aws-sm:${aws_secretsmanager_secret.server["database-url"].arn}"
      github = {
        private_key_ref    = "aws-sm:${aws_secretsmanager_secret.server["github-app-key"].arn}"
        webhook_secret_ref = "aws-sm:${aws_secretsmanager_secret.server["github-webhook-secret"].arn}"
      }
      session = {
        key_ref = "aws-sm:${aws_secretsmanager_secret.server["session-key"].arn}"
      }
      artifacts = {
        bucket          = aws_s3_bucket.artifacts.bucket
        kms_key         = aws_kms_key.artifacts.arn
        operate_kms_key = aws_kms_key.operate.arn
        runner_role     = aws_iam_role.runner_artifacts.arn
      }
      runner = {
        status_key_ref  = "aws-sm:${aws_secretsmanager_secret.server["status-key"].arn}"
        pull_secret_ref = "aws-sm:${aws_secretsmanager_secret.runner["pull-secret"].arn}"
        env = {
          OCPCTL_PERMISSIONS_BOUNDARY = aws_iam_policy.cluster_boundary.arn
        }
      }
    }
    roles = var.server_together ? "together" : "apart"
    components = { for name, role in aws_iam_role.server : name == "all" ? "server" : name => {
      serviceAccount = { annotations = { "eks.amazonaws.com/role-arn" = role.arn } }
    } if name != "migrate" }
    migrations = {
      serviceAccountAnnotations = { "eks.amazonaws.com/role-arn" = aws_iam_role.server["migrate"].arn }
    }
    runner = {
      serviceAccounts = { for name, role in aws_iam_role.runner : name => {
        annotations = { "eks.amazonaws.com/role-arn" = role.arn }
      } }
    }
  })
}
