// Package trial puts a whole stack on trial. The crash matrix strikes clusters at every boundary of their lives and sees
// them converge; the soak lets many lives go by with random faults.
//
// Everything real runs as it does in production: server, runners and installers are processes and are really killed. A
// trial steers only the outside: it opens pull requests, sets labels, writes comments, cuts lines and kills. That nothing
// is left it reads from the stand-ins' own books, never from the product.
package chaos
