package github

import "context"

// rank is the priority of a call. When little is left of a rate limit, calls of a low rank wait first.
type rank int

const (
	// rankShow is for everything that only shows something: each write, and the reads that it needs.
	rankShow rank = iota
	// rankDecide is for a read that a decision depends on: a permission, a team, the state of a pull request.
	rankDecide
	// rankEnd is for such a read if the decision can only end a cluster.
	rankEnd
)

type rankKey struct{}

// ToEnd marks the calls made with the context as ones that may end a cluster: they are the last to wait for a rate limit.
func ToEnd(ctx context.Context) context.Context { return context.WithValue(ctx, rankKey{}, rankEnd) }

// toDecide marks a read that a decision depends on, unless it is already marked as one that may end a cluster.
func toDecide(ctx context.Context) context.Context {
	return context.WithValue(ctx, rankKey{}, max(rankOf(ctx), rankDecide))
}

type mutationKey struct{}

// toMutate marks a GraphQL call as one that changes something: GitHub counts it as a write.
func toMutate(ctx context.Context) context.Context {
	return context.WithValue(ctx, mutationKey{}, true)
}

func isMutation(ctx context.Context) bool { return ctx.Value(mutationKey{}) != nil }

func rankOf(ctx context.Context) rank {
	r, _ := ctx.Value(rankKey{}).(rank)
	return r
}
