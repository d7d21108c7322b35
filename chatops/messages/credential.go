package messages

// AccountTaken tells somebody that the account they want to link is another person's.
const AccountTaken = "This account belongs to somebody else: they linked it, or the catalogue lists it as theirs. They or a platform admin must first unlink it or remove it from the catalogue."
