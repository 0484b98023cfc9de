import * as fs from "node:fs"
import * as path from "node:path"
import * as Effect from "effect/Effect"
import { type RemoteError, ValidationError } from "../../domain/errors/StoreError.js"
import { parseConfig, settingName } from "../disk/files/ConfigFile.js"
import { attempt } from "../disk/files/EngineError.js"

const operation = "GitHost.layer"

/**
 * Records the address of the cloned repository as `remote.origin.url`, as Git does. Fails if the directory belongs to another
 * repository, whose commits would be mistaken for those of this one.
 */
export const bindToRemote = (directory: string, url: string, isEmpty: Effect.Effect<boolean, RemoteError>) =>
  Effect.gen(function* () {
    const file = path.join(directory, "config")
    const [found] = yield* attempt(operation, directory, () =>
      parseConfig(file, fs.readFileSync(file, "utf8")).filter(
        (setting) => settingName(setting) === "remote.origin.url"
      )
    )
    if (found?.value === url) return
    if (found !== undefined || !(yield* isEmpty)) {
      return yield* new ValidationError({
        operation,
        path: directory,
        message: `the directory is ${found === undefined ? "a repository of its own" : `a clone of ${found.value}`}, not of ${url}`,
        hint: "give each repository a cache directory of its own"
      })
    }
    yield* attempt(operation, directory, () =>
      fs.appendFileSync(file, `[remote "origin"]\n\turl = ${JSON.stringify(url)}\n`)
    )
  })
