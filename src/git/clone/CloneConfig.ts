import * as fs from "node:fs"
import * as path from "node:path"
import * as Effect from "effect/Effect"
import { RemoteError, ValidationError } from "../../domain/errors/StoreError.js"
import { parseConfig, settingName } from "../disk/files/ConfigFile.js"
import { attempt } from "../disk/files/EngineError.js"
import type { Reference } from "../disk/port/GitRepository.js"

const operation = "GitHost.layer"

/** The prefix of the refs that only a clone has. */
export const ownRefs = "refs/chainstore/"

/**
 * Records the address of the cloned repository as `remote.origin.url`, as Git does. Fails if the directory belongs to another
 * repository, whose commits would be mistaken for those of this one.
 */
export const bindToRemote = (
  directory: string,
  url: string,
  refs: Effect.Effect<ReadonlyArray<Reference>, RemoteError>
) =>
  Effect.gen(function* () {
    const file = path.join(directory, "config")
    const recorded = attempt(
      operation,
      directory,
      () =>
        parseConfig(file, fs.readFileSync(file, "utf8")).find(
          (setting) => settingName(setting) === "remote.origin.url"
        )?.value
    )
    const refuse = (owner: string) =>
      new ValidationError({
        operation,
        path: directory,
        message: `the directory is ${owner}, not of ${url}`,
        hint: "give each repository a cache directory of its own"
      })
    const found = yield* recorded
    if (found === url) return
    if (found !== undefined) return yield* refuse(`a clone of ${found}`)
    const names = (yield* refs).map(({ name }) => name)
    if (names.some((name) => name.startsWith(ownRefs)))
      return yield* new RemoteError({
        operation,
        reason: "Corrupt",
        path: directory,
        message: `${file} does not name the cloned repository: it may have been cut short`
      })
    if (names.length > 0) return yield* refuse("a repository of its own")
    yield* attempt(operation, directory, () =>
      fs.appendFileSync(file, `[remote "origin"]\n\turl = ${JSON.stringify(url)}\n`)
    )
    // Another process may have recorded another repository at the same time.
    const first = yield* recorded
    if (first !== url) return yield* refuse(`a clone of ${first}`)
  })
