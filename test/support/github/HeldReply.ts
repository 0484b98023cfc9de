import type { Server } from "./InProcess.js"
import { type Seen, seenOf } from "./Oracle.js"

/**
 * Sends requests to a server, and delays the reply to the first selected request. The request has taken effect, even if
 * its caller no longer waits for the reply.
 */
export class HeldReply {
  /** Asked for each request; the first one chosen is held. */
  chosen: (request: Seen) => boolean = () => false
  #release: () => void = () => {}
  #arrive: () => void = () => {}
  /** Resolves when the request has taken effect. */
  readonly arrived = new Promise<void>((resolve) => {
    this.#arrive = resolve
  })
  readonly #released = new Promise<void>((resolve) => {
    this.#release = resolve
  })

  constructor(private readonly server: Server) {}

  /** Lets the reply go. */
  release() {
    this.#release()
  }

  readonly send: typeof globalThis.fetch = async (input, init) => {
    const url = String(input instanceof Request ? input.url : input)
    const request = await seenOf(new URL(url).origin, input, init)
    if (!this.chosen(request)) return this.server.fetch(input, init)
    this.chosen = () => false
    const { signal: _, ...kept } = init ?? {}
    const reply = await this.server.fetch(input, kept)
    this.#arrive()
    await this.#released
    return reply
  }
}

/** Whether a request makes a commit or moves a branch. */
export const isWrite = ({ body, method, url }: Seen) =>
  (url === "/graphql" && body.includes("mutation ")) ||
  method === "PATCH" ||
  ((method === "PUT" || method === "DELETE") && url.includes("/contents/"))
