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

/** The supported versions of the REST API, oldest first. */
export const versions = ["2022-11-28", "2026-03-10"] as const
export type Version = (typeof versions)[number]

/** The services and limits that all requests share. */
export interface HostServices {
  readonly repositories: typeof Repositories.Service
  readonly limits: typeof RateLimits.Service
  readonly archiveTokens: typeof ArchiveTokens.Service
  readonly maxBodyBytes: number
  readonly maxPushBytes: number
  /** How long the sender of a body may pause. */
  readonly bodyIdle: Duration.Duration
  /** How long a small body may take to arrive. */
  readonly bodyTime: Duration.Duration
  /**
   * The memory budget of large request bodies. It is separate from `replyMemory`, so that a request never waits for
   * itself.
   */
  readonly bodyMemory: MemoryBudget
  /** The memory budget of large replies. */
  readonly replyMemory: MemoryBudget
  /** The cache of replies. */
  readonly replyCache: ReplyCache
  /** Waits for a time slice. */
  readonly schedule: Effect.Effect<void>
}

/** A request as handlers receive it. */
export interface HostCall {
  readonly host: HostServices
  readonly request: HttpServerRequest.HttpServerRequest
  /** The path without the API's prefix, as sent. */
  readonly path: string
  readonly parameters: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  readonly principal: Principal
  readonly media: Media
  readonly version: Version
  readonly links: Links
}
