variable "name" {
  description = "Prefix of the names of roles, policies, keys and the database."
  type        = string
  default     = "ocpctl"

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{1,19}$", var.name))
    error_message = "name must have 2 to 20 lowercase letters, digits and dashes, and begin with a letter."
  }
}

variable "installation" {
  description = "The server's field installation: the value of the tag InstallationId on every resource of a cluster."
  type        = string

  validation {
    condition     = can(regex("^[a-z0-9][a-z0-9-]{0,30}$", var.installation))
    error_message = "installation must be the short name in the server's configuration: lowercase letters, digits and dashes."
  }
}

variable "cluster_regions" {
  description = "Regions in which clusters may be created. Runners can change nothing in others."
  type        = list(string)

  validation {
    condition     = length(var.cluster_regions) > 0 && alltrue([for r in var.cluster_regions : can(regex("^[a-z]{2}(-[a-z]+)+-[0-9]$", r))])
    error_message = "cluster_regions must name at least one region, such as us-east-1."
  }
}

variable "base_domains" {
  description = "The clusters' base domains, with the id of the public hosted zone of each, in the account of the clusters."
  type        = map(string)

  validation {
    condition     = length(var.base_domains) > 0 && alltrue([for d, z in var.base_domains : can(regex("^Z[A-Z0-9]+$", z)) && !endswith(d, ".")])
    error_message = "base_domains must map at least one domain without a final dot to its zone id, such as {\"labs.example.com\" = \"Z0123456789ABC\"}."
  }
}

variable "oidc_provider" {
  description = "The issuer of the service account tokens of the cluster on which ocpctl runs (EKS or ROSA): its URL without https://, and its IAM identity provider in the platform account and in the account of the clusters."
  type = object({
    issuer                = string
    platform_provider_arn = string
    clusters_provider_arn = string
    audience              = optional(string, "sts.amazonaws.com")
  })

  validation {
    condition     = !startswith(var.oidc_provider.issuer, "https://") && can(regex(":oidc-provider/", var.oidc_provider.platform_provider_arn)) && can(regex(":oidc-provider/", var.oidc_provider.clusters_provider_arn))
    error_message = "oidc_provider needs the issuer without https://, and ARNs of IAM identity providers (arn:aws:iam::<account>:oidc-provider/...)."
  }
}

variable "server_together" {
  description = "true: one Deployment with one service account runs the roles hooks, api and worker, and one IAM role has the rights of all three. false: one of each per role."
  type        = bool
  default     = false
}

variable "service_accounts" {
  description = "The Kubernetes service accounts, as namespace/name. Only these can assume the roles."
  type = object({
    server         = optional(string, "ocpctl/ocpctl-server")
    hooks          = optional(string, "ocpctl/ocpctl-hooks")
    api            = optional(string, "ocpctl/ocpctl-api")
    worker         = optional(string, "ocpctl/ocpctl-worker")
    migrate        = optional(string, "ocpctl/ocpctl-migrate")
    runner_create  = optional(string, "ocpctl-runners/ocpctl-runner-create")
    runner_destroy = optional(string, "ocpctl-runners/ocpctl-runner-destroy")
    runner_operate = optional(string, "ocpctl-runners/ocpctl-runner-operate")
    runner_scan    = optional(string, "ocpctl-runners/ocpctl-scan")
  })
  default = {}

  validation {
    condition     = alltrue([for a in values(var.service_accounts) : can(regex("^[a-z0-9-]+/[a-z0-9.-]+$", a))])
    error_message = "Each service account must be namespace/name, without wildcards."
  }
}

variable "allow_mint" {
  description = "Allow runners what clusters in credentials mode Mint need: creating and deleting IAM users for operators. Leave it false unless a profile uses that mode."
  type        = bool
  default     = false
}

variable "team_roles" {
  description = "Roles in other accounts that runners assume: credentials.role of the accounts' documents, made by team-account/."
  type        = list(string)
  default     = []

  validation {
    condition     = alltrue([for a in var.team_roles : can(regex("^arn:[a-z-]+:iam::[0-9]{12}:role/[^*]+$", a))])
    error_message = "team_roles must be ARNs of roles, without wildcards."
  }
}

variable "vpc_id" {
  description = "The VPC of the database and the endpoints."
  type        = string

  validation {
    condition     = startswith(var.vpc_id, "vpc-")
    error_message = "vpc_id must be the id of a VPC (vpc-...)."
  }
}

variable "private_subnet_ids" {
  description = "Private subnets of the VPC in at least two zones, for the database and the endpoints."
  type        = list(string)

  validation {
    condition     = length(var.private_subnet_ids) >= 2
    error_message = "private_subnet_ids must name subnets in at least two zones."
  }
}

variable "private_route_table_ids" {
  description = "Route tables of the private subnets, for the S3 endpoint."
  type        = list(string)
  default     = []
}

variable "server_security_group_ids" {
  description = "Security groups of the server's pods or nodes. Only they reach the database; they and runner_security_group_ids reach the endpoints."
  type        = list(string)

  validation {
    condition     = length(var.server_security_group_ids) > 0
    error_message = "server_security_group_ids must name at least one security group, or nothing can reach the database."
  }
}

variable "runner_security_group_ids" {
  description = "Security groups of the runners' pods or nodes, if they are others than the server's."
  type        = list(string)
  default     = []
}

variable "interface_endpoints" {
  description = "Services with an interface endpoint in the VPC. Each costs money per zone and hour; [] creates none."
  type        = set(string)
  default     = ["ec2", "ecr.api", "ecr.dkr", "elasticloadbalancing", "kms", "secretsmanager", "servicequotas", "sts", "tagging"]
}

variable "bucket_name" {
  description = "Name of the artifacts bucket; empty: <name>-artifacts-<account>-<region>."
  type        = string
  default     = ""
}

variable "access_log_bucket" {
  description = "Bucket for the artifacts bucket's access logs; empty: none are written."
  type        = string
  default     = ""
}

variable "replica_region" {
  description = "Second region to which everything is replicated that a teardown needs; empty: no replica."
  type        = string
  default     = ""
}

variable "replica_retention_days" {
  description = "Age at which the replica's objects are deleted. It must exceed the longest life of a cluster plus the server's artifacts.retention."
  type        = number
  default     = 180

  validation {
    condition     = var.replica_retention_days >= 120
    error_message = "replica_retention_days must be at least 120: a younger object may belong to a cluster that exists."
  }
}

variable "database" {
  description = "The PostgreSQL instance."
  type = object({
    engine_version        = optional(string, "16")
    instance_class        = optional(string, "db.m7g.large")
    allocated_storage     = optional(number, 50)
    max_allocated_storage = optional(number, 200)
    multi_az              = optional(bool, true)
    backup_days           = optional(number, 14)
    maintenance_window    = optional(string, "sun:03:00-sun:04:00")
    backup_window         = optional(string, "01:00-02:00")
  })
  default = {}

  validation {
    condition     = contains(["15", "16"], split(".", var.database.engine_version)[0])
    error_message = "database.engine_version must be PostgreSQL 15 or 16."
  }
  validation {
    condition     = var.database.backup_days >= 14 && var.database.backup_days <= 35
    error_message = "database.backup_days must be 14 to 35."
  }
}

variable "guardrail" {
  description = "The policy that denies installations outside the platform. scp_targets: roots, organizational units and accounts to which it is attached as a service control policy, which needs the management account's rights for the provider aws. exempt_principals: ARN patterns of administrators, and of tools such as a node autoscaler of EKS that use the same tags."
  type = object({
    scp_targets       = optional(set(string), [])
    exempt_principals = list(string)
  })

  validation {
    condition     = length(var.guardrail.exempt_principals) > 0 && alltrue([for p in var.guardrail.exempt_principals : startswith(p, "arn:")])
    error_message = "guardrail.exempt_principals must contain at least one ARN pattern, such as arn:aws:iam::*:role/PlatformAdministrator: without an exception nobody could change the platform's roles."
  }
}

variable "tags" {
  description = "Further tags for every resource of the platform."
  type        = map(string)
  default     = {}
}
