import { Effect, Option } from "effect"
import type { Reply } from "../reply/Reply.js"
import * as ConditionalReply from "./ConditionalReply.js"
import type { HostCall } from "./HostCall.js"

/** The requested page of a list, within GitHub's limits. */
export interface Page {
  readonly number: number
  readonly size: number
  readonly skip: number
}

const count = (text: string | null, fallback: number, most: number): number => {
  const value = /^\d+$/.test(text ?? "") ? Number(text) : fallback
  return Math.min(Math.max(value, 1), most)
}

export const requested = (call: HostCall, size = 30, most = 100): Page => {
  const number = count(call.query.get("page"), 1, 1_000_000)
  const wanted = count(call.query.get("per_page"), size, most)
  return { number, size: wanted, skip: (number - 1) * wanted }
}

/** The `Link` header of a page, with absolute URLs. `last` is included if it is known. */
export const linkHeader = (
  call: HostCall,
  page: Page,
  more: boolean,
  last: Option.Option<number> = Option.none()
): Readonly<Record<string, string>> => {
  const to = (number: number, relation: string) => {
    const query = new URLSearchParams(call.query)
    query.set("page", String(number))
    return `<${call.links.api}${call.path}?${query}>; rel="${relation}"`
  }
  const all = [
    ...(page.number > 1 ? [to(page.number - 1, "prev")] : []),
    ...(more ? [to(page.number + 1, "next")] : []),
    ...(more && Option.isSome(last) ? [to(last.value, "last")] : []),
    ...(page.number > 1 ? [to(1, "first")] : [])
  ]
  return all.length === 0 ? {} : { link: all.join(", ") }
}

/** One page of a list in memory, with its `Link` header. */
export const slice = <A>(call: HostCall, page: Page, all: ReadonlyArray<A>) => ({
  items: all.slice(page.skip, page.skip + page.size),
  headers: linkHeader(
    call,
    page,
    page.skip + page.size < all.length,
    Option.some(Math.max(1, Math.ceil(all.length / page.size)))
  )
})

/** A JSON reply with one page of a list in memory. `show` formats an item. */
export const json = <A, E, R>(
  call: HostCall,
  all: ReadonlyArray<A>,
  show: (item: A) => Effect.Effect<unknown, E, R>
): Effect.Effect<Reply, E, R> => {
  const { headers, items } = slice(call, requested(call), all)
  return Effect.map(Effect.forEach(items, show), (shown) => ConditionalReply.json(call, shown, headers))
}
