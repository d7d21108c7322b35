package github

import "context"

// rank says what a call is for. When little is left of a rate limit, calls of a low rank wait first.
type rank int

const (
	// rankShow is everything that shows people something: each write, and the reads that it needs.
	rankShow rank = iota
	// rankDecide is a read on whose answer a decision rests: a permission, a team, how a pull request stands.
	rankDecide
	// rankEnd is such a read where the decision can only end a cluster.
	rankEnd
)

type rankKey struct{}

// ToEnd marks the calls made with the context as the ones that may end a cluster: they are the last to wait for a rate limit.
func ToEnd(ctx context.Context) context.Context { return context.WithValue(ctx, rankKey{}, rankEnd) }

// toDecide marks a read on which a decision rests, unless it is marked as one that may end a cluster.
func toDecide(ctx context.Context) context.Context {
	return context.WithValue(ctx, rankKey{}, max(rankOf(ctx), rankDecide))
}

func rankOf(ctx context.Context) rank {
	r, _ := ctx.Value(rankKey{}).(rank)
	return r
}
