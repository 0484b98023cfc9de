import type { HttpServerRequest } from "@effect/platform"
import type { Duration, Effect } from "effect"
import type { Answers } from "./Answers.js"
import type { Links } from "./Links.js"
import type { Media } from "./Media.js"
import type { Principal } from "./Principal.js"
import type { Room } from "./Room.js"

/** The versions of the REST API that are known, oldest first. */
export const versions = ["2022-11-28", "2026-03-10"] as const
export type Version = (typeof versions)[number]

/** One request as the handlers see it: who asks, what for, and how it reached the host. */
export interface Call {
  readonly request: HttpServerRequest.HttpServerRequest
  /** The path below the API's own prefix, as it was sent. */
  readonly path: string
  readonly parameters: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  readonly principal: Principal
  readonly media: Media
  readonly version: Version
  readonly links: Links
  readonly maxBodyBytes: number
  /** How long the sender of a body may pause. */
  readonly bodyIdle: Duration.Duration
  /** How long a small body may take. */
  readonly bodyTime: Duration.Duration
  /** Memory for large bodies; apart from `room`, so that no request waits for itself. */
  readonly bodies: Room
  /** What is too large for memory lies on the disk of this directory. */
  readonly spoolDirectory: string
  /** What is remembered of earlier answers. */
  readonly answers: Answers
  /** Memory for large answers. */
  readonly room: Room
  /** Waits for a turn of the processor. */
  readonly turn: Effect.Effect<void>
}
