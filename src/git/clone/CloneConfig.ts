import * as fs from "node:fs"
import * as path from "node:path"
import * as Effect from "effect/Effect"
import { type RemoteError, ValidationError } from "../../domain/errors/StoreError.js"
import { parseConfig, settingName } from "../disk/files/ConfigFile.js"
import { attempt } from "../disk/files/EngineError.js"

const operation = "GitHost.layer"

/**
 * Notes in a clone's configuration whose clone it is, as Git does. A directory of another repository's objects is refused:
 * its commits would be taken for this one's.
 */
export const bindTo = (directory: string, url: string, isEmpty: Effect.Effect<boolean, RemoteError>) =>
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
