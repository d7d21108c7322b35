// Package messages has what people are told in errors, problem details and replies, by topic: one function or constant for each
// message. The application decides what is so and hands over the facts; how it is said stands here. Comments, checks and
// deployments of clusters are in package chatops.
package messages
