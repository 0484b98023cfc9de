import type { HttpServerRequest } from "@effect/platform"
import type { Duration, Effect } from "effect"
import type { ArchiveTokens } from "../access/ArchiveTokens.js"
import type { Principal } from "../access/Principal.js"
import type { RateLimits } from "../access/RateLimits.js"
import type { Links } from "../reply/Links.js"
import type { Media } from "../reply/MediaType.js"
import type { Repositories } from "../repository/Repositories.js"
import type { MemoryBudget } from "./MemoryBudget.js"
import type { ReplyCache } from "./ReplyCache.js"

/** The versions of the REST API that are known, oldest first. */
export const versions = ["2022-11-28", "2026-03-10"] as const
export type Version = (typeof versions)[number]

/** What all requests of one host share. */
export interface HostServices {
  readonly repositories: typeof Repositories.Service
  readonly limits: typeof RateLimits.Service
  readonly tickets: typeof ArchiveTokens.Service
  readonly maxBodyBytes: number
  readonly maxPushBytes: number
  /** How long the sender of a body may pause. */
  readonly bodyIdle: Duration.Duration
  /** How long a small body may take. */
  readonly bodyTime: Duration.Duration
  /** Memory for large request bodies; apart from `replyMemory`, so that no request waits for itself. */
  readonly bodyMemory: MemoryBudget
  /** Memory for large replies. */
  readonly replyMemory: MemoryBudget
  /** Replies that are remembered. */
  readonly replyCache: ReplyCache
  /** Waits for a turn of the processor. */
  readonly schedule: Effect.Effect<void>
}

/** One request as the handlers see it: who asks, what for, and how it reached the host. */
export interface HostCall {
  readonly host: HostServices
  readonly request: HttpServerRequest.HttpServerRequest
  /** The path below the API's own prefix, as it was sent. */
  readonly path: string
  readonly parameters: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  readonly principal: Principal
  readonly media: Media
  readonly version: Version
  readonly links: Links
}
