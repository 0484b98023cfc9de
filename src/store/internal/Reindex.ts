import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { WriteError } from "../../domain/errors/StoreError.js"
import type { StoreReindexOptions } from "../StoreService.js"
import { reportingOutsideLock } from "./calls/Progress.js"
import type { StoreCore } from "./commit/StoreCore.js"

/** Rebuilds the indexes and manifests of some or all collections in one commit. */
export const reindex = (
  core: StoreCore,
  operation: string,
  message: string,
  collections: ReadonlyArray<string> | "all",
  { format, onProgress, ...options }: StoreReindexOptions = {}
): Effect.Effect<Option.Option<string>, WriteError> =>
  Effect.map(
    reportingOutsideLock(onProgress, (onRead) =>
      core.write({
        operation,
        message: options.message ?? message,
        mode: "batch",
        operations: [],
        reindex: collections,
        format,
        onRead
      })
    ),
    ({ committed }) => Option.map(committed, ({ commit }) => commit as string)
  )
