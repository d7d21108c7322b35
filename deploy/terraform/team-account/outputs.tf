output "role_arn" {
  description = "For credentials.role of the account's document."
  value       = aws_iam_role.this.arn
}
