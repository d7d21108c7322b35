package messages

// NoReport is the answer to a request for a usage report that cannot be made; its problem follows.
const NoReport = "This report does not exist."
