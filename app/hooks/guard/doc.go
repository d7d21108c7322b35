// Package guard stands in front of the signed webhooks: it ensures that a signed request is handled, whatever strangers send.
//
// A sender is unknown until the whole body was read and its signature verified. Until then senders are told apart by their source
// alone: an IPv4 address or the /64 network of an IPv6 address, as trusted proxies name it. Guard.Handler checks in this order:
// source, form of the signature, body, signature. Only then does a request use anything that another signed one may need, which is
// PostgreSQL.
//
// # What an Ingress does
//
// The public listener stands behind an Ingress, a Route or a load balancer. The Ingress ends TLS and reads the headers of a request
// before it opens a connection to the server, so that slow headers and half-open connections end there. It limits connections, for
// each client and in total (nginx: limit-connections; HAProxy, which serves Routes: rate-limit-connections and maxconn), and may limit
// the rate of requests and the size of bodies (nginx: limit-rps, proxy-body-size, which must allow GitHub's 25 MB). This package
// limits no connections. A listener that is reachable without an Ingress needs something else that does.
//
// # What remains
//
// An Ingress knows no signature, and not every Ingress waits for a body before it passes it on: HAProxy does not. So this package limits
// what an unsigned request can take from a signed one:
//
//   - Time: a body has BodyTime to arrive.
//   - Memory: at most SmallAtOnce small and LargeAtOnce large bodies are received at once, and a part of them for each source. Among
//     small bodies, one too many ends the slowest. A large body waits for no place: it is refused, unread. Memory is used only for
//     what has arrived, whatever Content-Length says.
//   - Requests: each one without a valid signature is charged to its source. A source with too many is answered 429, and its large
//     bodies are not read. Small bodies of any source are always read and verified, because a source may be a proxy that nobody told
//     us about, with GitHub behind it.
//   - PostgreSQL: signed requests that are stored at once are limited, and the others wait.
//
// The server's own time limits (cmd/ocpctl-server/listeners.go) end slow headers and idle connections, also where there is no Ingress.
package guard
