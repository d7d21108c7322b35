# The entries are created empty. Their values are put in with the AWS CLI, so that none appears in the state.

locals {
  # Which role of the server reads which secret.
  server_secrets = {
    "database-url"          = ["hooks", "api", "worker", "migrate"]
    "github-app-key"        = ["worker"]
    "github-webhook-secret" = ["hooks"]
    "github-client-secret"  = ["api"]
    "slack-signing-secret"  = ["hooks"]
    "slack-app-token"       = ["hooks"]
    "slack-bot-token"       = ["worker"]
    "status-key"            = ["api", "worker"]
    "session-key"           = ["api"]
  }
  runner_secrets = toset(["pull-secret", "ssh-key"])

  secrets_of = {
    for role in ["hooks", "api", "worker", "migrate"] : role => [for name, readers in local.server_secrets : aws_secretsmanager_secret.server[name].arn if contains(readers, role)]
  }
}

resource "aws_secretsmanager_secret" "server" {
  for_each = local.server_secrets

  name                    = "${var.name}/${each.key}"
  description             = "Read by the server's role ${join(" and ", each.value)}"
  kms_key_id              = aws_kms_key.secrets.arn
  recovery_window_in_days = 30
  tags                    = local.tags
}

# Runners read theirs in the account of the clusters, where their roles are.
resource "aws_kms_key" "runner_secrets" {
  provider = aws.clusters

  description             = "${var.name}: the runners' secrets"
  enable_key_rotation     = true
  deletion_window_in_days = 30
  tags                    = local.tags
}

resource "aws_secretsmanager_secret" "runner" {
  provider = aws.clusters
  for_each = local.runner_secrets

  name                    = "${var.name}/${each.key}"
  description             = "Read by the runners"
  kms_key_id              = aws_kms_key.runner_secrets.arn
  recovery_window_in_days = 30
  tags                    = local.tags
}
