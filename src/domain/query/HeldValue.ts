import * as Either from "effect/Either"
import { encodeInline } from "../CanonicalJson.js"
import type { Component } from "../OrderKey.js"

/** A value as a query sees it: what contains a number that JavaScript cannot hold, such as `1e400`, counts as missing. */
export const held = (value: Component): Component => {
  if (typeof value === "string" || typeof value === "boolean" || value === null) return value
  if (typeof value === "number") return Number.isFinite(value) ? value : undefined
  return value !== undefined && Either.isRight(encodeInline(value)) ? value : undefined
}
