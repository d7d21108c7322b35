output "helm_values" {
  description = "terraform output -raw helm_values > values-aws.yaml"
  value       = module.ocpctl.helm_values
}

output "secret_arns" {
  description = "Where the values of the secrets go."
  value       = module.ocpctl.secret_arns
}
