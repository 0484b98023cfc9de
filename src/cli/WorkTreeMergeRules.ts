import { FileSystem } from "@effect/platform"
import { Effect, Either } from "effect"
import type { MergeRules } from "../domain/merge/MergeRules.js"
import { parseSettings, settingsFileName } from "../domain/settings/Settings.js"

/**
 * The merge rules for a document at a path of the work tree, in which Git runs a merge driver: the rules of its
 * collection in the nearest settings file above it. Unreadable settings contain no rules.
 */
export const mergeRulesFor = (path: string): Effect.Effect<MergeRules, never, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
    const parts = path.split("/")
    for (let depth = parts.length - 2; depth >= 0; depth--) {
      const file = [...parts.slice(0, depth), settingsFileName].join("/")
      const content = yield* Effect.option(files.readFile(file))
      if (content._tag === "None") continue
      const parsed = parseSettings(content.value)
      if (Either.isLeft(parsed)) return {}
      return { fields: parsed.right.settings.merge.get(parts[depth]!) ?? {} }
    }
    return {}
  })
