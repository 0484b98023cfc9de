const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

/**
 * The generated id of a row: the import's ULID plus the row's number, as monotonic ULIDs of one millisecond follow each
 * other. A resumed import therefore gives each row the same id again, and the ids sort in the order of the rows.
 */
export const generatedId = (importId: string, row: number): string => {
  let id = ""
  let carry = row
  for (let at = importId.length - 1; at >= 0; at--) {
    const sum = alphabet.indexOf(importId[at]!) + (carry % 32)
    carry = Math.floor(carry / 32) + (sum >= 32 ? 1 : 0)
    id = alphabet[sum % 32]! + id
  }
  return id
}
