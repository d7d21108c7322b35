variable "clusters_account_role" {
  description = "Role in the account of the clusters with which Terraform creates the runners' roles."
  type        = string
}

variable "oidc_provider" {
  description = "The cluster's token issuer, see the module's variable."
  type = object({
    issuer                = string
    platform_provider_arn = string
    clusters_provider_arn = string
  })
}

variable "vpc_id" {
  description = "VPC of the Kubernetes cluster on which ocpctl runs."
  type        = string
}

variable "private_subnet_ids" {
  description = "Its private subnets."
  type        = list(string)
}

variable "private_route_table_ids" {
  description = "Their route tables."
  type        = list(string)
}

variable "server_security_group_ids" {
  description = "Security groups of its nodes."
  type        = list(string)
}
