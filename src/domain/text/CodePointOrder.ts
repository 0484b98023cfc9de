/**
 * Order by Unicode code point, which differs from JavaScript's own order beyond the Basic Multilingual Plane.
 *
 * @since 0.1.0
 * @category utilities
 */
export const compareCodePoints = (a: string, b: string): number => {
  const length = Math.min(a.length, b.length)
  for (let at = 0; at < length; at++) {
    let left = a.charCodeAt(at)
    let right = b.charCodeAt(at)
    if (left === right) continue
    if (left >= 0xd800 && right >= 0xd800) {
      left = left >= 0xe000 ? left - 0x800 : left + 0x2000
      right = right >= 0xe000 ? right - 0x800 : right + 0x2000
    }
    return left - right
  }
  return a.length - b.length
}
