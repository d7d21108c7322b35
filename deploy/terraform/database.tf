resource "aws_db_subnet_group" "this" {
  name       = var.name
  subnet_ids = var.private_subnet_ids
  tags       = local.tags
}

resource "aws_db_parameter_group" "this" {
  name_prefix = "${var.name}-"
  family      = "postgres${split(".", var.database.engine_version)[0]}"
  tags        = local.tags

  parameter {
    name  = "rds.force_ssl"
    value = "1"
  }

  lifecycle {
    create_before_destroy = true
  }
}

resource "aws_security_group" "database" {
  name_prefix = "${var.name}-database-"
  description = "PostgreSQL of ${var.name}: reached by the server only"
  vpc_id      = var.vpc_id
  tags        = local.tags

  lifecycle {
    create_before_destroy = true
  }
}

resource "aws_vpc_security_group_ingress_rule" "database" {
  for_each = toset(var.server_security_group_ids)

  security_group_id            = aws_security_group.database.id
  referenced_security_group_id = each.value
  description                  = "the server"
  ip_protocol                  = "tcp"
  from_port                    = 5432
  to_port                      = 5432
  tags                         = local.tags
}

resource "aws_db_instance" "this" {
  identifier     = var.name
  engine         = "postgres"
  engine_version = var.database.engine_version
  instance_class = var.database.instance_class
  db_name        = "ocpctl"

  allocated_storage     = var.database.allocated_storage
  max_allocated_storage = var.database.max_allocated_storage
  storage_type          = "gp3"
  storage_encrypted     = true
  kms_key_id            = aws_kms_key.database.arn

  # RDS creates and rotates the master password in Secrets Manager. It appears neither in a variable nor in the state.
  username                      = "postgres"
  manage_master_user_password   = true
  master_user_secret_kms_key_id = aws_kms_key.database.arn

  multi_az               = var.database.multi_az
  db_subnet_group_name   = aws_db_subnet_group.this.name
  vpc_security_group_ids = [aws_security_group.database.id]
  publicly_accessible    = false
  parameter_group_name   = aws_db_parameter_group.this.name

  backup_retention_period   = var.database.backup_days # also how far back point-in-time recovery reaches
  backup_window             = var.database.backup_window
  maintenance_window        = var.database.maintenance_window
  copy_tags_to_snapshot     = true
  deletion_protection       = true
  skip_final_snapshot       = false
  final_snapshot_identifier = "${var.name}-final"

  auto_minor_version_upgrade      = true
  performance_insights_enabled    = true
  performance_insights_kms_key_id = aws_kms_key.database.arn
  enabled_cloudwatch_logs_exports = ["postgresql", "upgrade"]
  tags                            = local.tags
}
