import { dirname, join, relative } from "node:path"
import { Effect } from "effect"
import type { ReadError } from "../domain/errors/StoreError.js"
import { attempt } from "../git/disk/files/EngineError.js"
import { linkTarget } from "../git/disk/files/FileOperations.js"
import { alternatesOf } from "../git/disk/objects/Alternates.js"
import type { Finding } from "../store/Doctor.js"
import type { StoreService } from "../store/StoreService.js"

/** The directories that texts about a repository's files may contain, and their replacements, in the order of the replacements. */
const replacements = (directory: string): ReadonlyArray<readonly [directory: string, shown: string]> => {
  const shared = dirname(linkTarget(join(directory, "packed-refs")))
  const others = [...alternatesOf(join(directory, "objects")).directories, shared]
    .map((other) => ({ other, path: relative(directory, other) }))
    .filter(({ path }) => path.startsWith(".."))
    // A directory may be the beginning of another one.
    .sort((a, b) => b.other.length - a.other.length)
  return [
    ...others.flatMap(({ other, path }) => [[other, "…"] as const, [`${path}/`, "…/"] as const]),
    [`${directory}/`, ""],
    [directory, "the repository"]
  ]
}

/**
 * The directory of a path outside of the repository, in a finding about a repair: the log of repairs keeps the paths of directories
 * that the repository does not share any more. Only the path contains slashes.
 */
const outside = /(?<=\s)(\.\.)?\/(.*\/)?/

/**
 * A store over a repository of this machine whose findings contain no directory of the machine: paths are relative to the repository,
 * and `…` stands for the directory of a file that another repository shares with it.
 */
export const withoutDirectories = (directory: string) => {
  const shown = (examination: Effect.Effect<ReadonlyArray<Finding>, ReadError>) =>
    Effect.zipWith(
      examination,
      attempt("Store.doctor", directory, () => replacements(directory)),
      (findings, replaced) => {
        const hidden = (text: string) =>
          replaced.reduce((rest, [from, to]) => rest.replaceAll(from, to), text)
        return findings.map((finding): Finding => {
          const message = hidden(finding.message)
          return {
            ...finding,
            message: finding.code === "repaired" ? message.replace(outside, "…/") : message,
            hint: finding.hint && hidden(finding.hint)
          }
        })
      }
    )
  const wrapped = (store: StoreService): StoreService => ({
    ...store,
    doctor: shown(store.doctor),
    doctorWith: (options) => shown(store.doctorWith(options)),
    onBranch: (branch) => wrapped(store.onBranch(branch))
  })
  return wrapped
}
