import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"

const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

const digits = (value: number, count: number): string => {
  let text = ""
  let rest = value
  for (let at = 0; at < count; at++) {
    text = alphabet[rest % 32]! + text
    rest = Math.floor(rest / 32)
  }
  return text
}

const limb = 2 ** 20
const part = Random.nextIntBetween(0, limb)
const parts = Effect.all([part, part, part, part])

/**
 * A generator of ULIDs: 26 characters, ten for the time in milliseconds and sixteen random ones. Every id is greater
 * than the previous one, also within a millisecond and when the clock steps back.
 *
 * @since 0.1.0
 * @category constructors
 */
export const generator: Effect.Effect<Effect.Effect<string>> = Effect.sync(() => {
  let lastTime = -1
  let last: [number, number, number, number] = [0, 0, 0, 0]
  const next = (now: number, random: [number, number, number, number]) => {
    if (now > lastTime) {
      lastTime = now
      last = random
    } else {
      let at = 3
      while (last[at] === limb - 1) last[at--] = 0
      if (at < 0) lastTime += 1
      else last[at]! += 1
    }
    return digits(lastTime, 10) + last.map((value) => digits(value, 4)).join("")
  }
  return Effect.zipWith(Effect.map(Clock.currentTimeMillis, Math.floor), parts, next)
})

/**
 * The time of a ULID, in milliseconds since the epoch.
 *
 * @since 0.1.0
 * @category utilities
 */
export const timeOf = (ulid: string): number =>
  [...ulid.slice(0, 10).toUpperCase()].reduce((time, digit) => time * 32 + alphabet.indexOf(digit), 0)

/**
 * Whether a text is a ULID.
 *
 * @since 0.1.0
 * @category refinements
 */
export const isUlid = (text: string): boolean => /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/i.test(text)
