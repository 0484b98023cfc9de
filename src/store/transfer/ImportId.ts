const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

/**
 * The generated id of a row: the import's moment and part of its randomness, then the row's number in six digits to
 * the base of 32. The same row of the same import has the same id each time, and ids sort as the rows do.
 */
export const numbered = (importId: string, row: number): string => {
  let digits = ""
  for (let rest = row; digits.length < 6; rest = Math.floor(rest / 32)) digits = alphabet[rest % 32]! + digits
  return importId.slice(0, 20) + digits
}
