const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

/**
 * The generated id of a row: the import's own id and the row's number after it, as ids that are generated in one
 * millisecond follow each other. All sixteen characters of randomness are the import's. The same row of the same
 * import has the same id each time, and ids sort as the rows do.
 */
export const numbered = (importId: string, row: number): string => {
  let id = ""
  let carry = row
  for (let at = importId.length - 1; at >= 0; at--) {
    const sum = alphabet.indexOf(importId[at]!) + (carry % 32)
    carry = Math.floor(carry / 32) + (sum >= 32 ? 1 : 0)
    id = alphabet[sum % 32]! + id
  }
  return id
}
