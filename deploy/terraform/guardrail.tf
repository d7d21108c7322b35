# One document, as a service control policy for accounts and as an IAM policy for the roles of people. It only denies.

locals {
  guardrail = jsonencode(jsondecode(templatefile("${path.module}/policies/guardrail.json", merge(local.policy_values, {
    exempt_principals = join("\",\"", var.guardrail.exempt_principals)
  }))))
}

resource "aws_iam_policy" "guardrail" {
  provider = aws.clusters

  name        = "${var.name}-guardrail"
  description = "Denies OpenShift installations outside ${var.name}"
  policy      = local.guardrail
  tags        = local.tags
}

resource "aws_organizations_policy" "guardrail" {
  count = length(var.guardrail.scp_targets) > 0 ? 1 : 0

  name        = "${var.name}-guardrail"
  description = "Denies OpenShift installations outside ${var.name}"
  type        = "SERVICE_CONTROL_POLICY"
  content     = local.guardrail
  tags        = local.tags
}

resource "aws_organizations_policy_attachment" "guardrail" {
  for_each = var.guardrail.scp_targets

  policy_id = aws_organizations_policy.guardrail[0].id
  target_id = each.value
}
