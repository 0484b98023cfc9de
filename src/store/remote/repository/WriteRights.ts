import * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type { GitRemoteService } from "../GitRemote.js"

/** Adds to the probe of a remote whether the caller may write; none if that is unknown. */
export const withWriteRights = (
  remote: GitRemoteService,
  writable: (isAsked: boolean) => Effect.Effect<Option.Option<boolean>>
): GitRemoteService => ({
  ...remote,
  probe: (branch, options) =>
    Effect.zipWith(remote.probe(branch), writable(options?.rights === true), (probe, write) => ({
      ...probe,
      write
    }))
})
