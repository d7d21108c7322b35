variable "name" {
  description = "The installation's input name: its runners use the boundary of this name."
  type        = string
  default     = "ocpctl"
}

variable "installation" {
  description = "The installation's input of this name."
  type        = string
}

variable "cluster_regions" {
  description = "Regions in which clusters may be created."
  type        = list(string)
}

variable "base_domains" {
  description = "The clusters' base domains, with the id of the public hosted zone of each in this account."
  type        = map(string)
}

variable "artifacts_bucket" {
  description = "The installation's output bucket, which the role must not reach."
  type        = string
}

variable "trusted_arns" {
  description = "Who may assume the role: the values of the installation's output runner_role_arns or, with keys, the ARN of their user."
  type        = list(string)

  validation {
    condition     = length(var.trusted_arns) > 0 && alltrue([for a in var.trusted_arns : can(regex("^arn:[a-z-]+:iam::[0-9]{12}:(role|user)/[^*]+$", a))])
    error_message = "trusted_arns must name roles or users, without wildcards."
  }
}

variable "external_id" {
  description = "The account's external id, which ocpctl account show prints."
  type        = string

  validation {
    condition     = length(var.external_id) >= 30
    error_message = "external_id must be what ocpctl account show prints: one that can be guessed protects nothing."
  }
}

variable "tags" {
  description = "Further tags for what this module creates."
  type        = map(string)
  default     = {}
}
