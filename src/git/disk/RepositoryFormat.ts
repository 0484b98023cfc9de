import * as fs from "node:fs"
import * as path from "node:path"
import { isRepository } from "./BareRepository.js"
import { parseConfig, settingName } from "./files/ConfigFile.js"
import { pathExists } from "./files/Directories.js"
import { EngineError } from "./files/EngineError.js"

/** Extensions of the repository format that the engine supports, or that do not affect a bare repository. */
const supportedExtensions = new Set(
  [
    ...["noop", "noop-v1", "objectformat", "partialclone", "preciousobjects", "refstorage"],
    ...["relativeworktrees", "worktreeconfig"]
  ].map((name) => `extensions.${name}`)
)

/** Throws if the engine does not support the format of a repository. */
export const checkFormat = (directory: string): void => {
  if (!fs.existsSync(directory)) {
    throw new EngineError(
      "Unreachable",
      `There is no repository at ${directory}`,
      "Create it, or check the path"
    )
  }
  if (!isRepository(directory)) {
    throw new EngineError(
      "Corrupt",
      `${directory} is not a bare repository`,
      "It must have HEAD, objects and refs"
    )
  }
  const settings = settingsOf(directory)
  const version = Number(settings.get("core.repositoryformatversion") ?? 0)
  if (version !== 0 && version !== 1) {
    throw new EngineError(
      "Unsupported",
      `${directory} has the format version ${settings.get("core.repositoryformatversion")}`,
      "Use a repository of format 0 or 1"
    )
  }
  for (const name of settings.keys()) {
    if (version === 0 || !name.startsWith("extensions.") || supportedExtensions.has(name)) continue
    throw new EngineError(
      "Unsupported",
      `${directory} has the unknown extension ${name.slice("extensions.".length)}`,
      "Use a repository without it: it may change the format of refs and objects"
    )
  }
  if ((settings.get("extensions.objectformat") ?? "sha1").toLowerCase() !== "sha1") {
    throw new EngineError(
      "Unsupported",
      `${directory} uses ${settings.get("extensions.objectformat")} object ids, not SHA-1`,
      "Use a repository with SHA-1 ids"
    )
  }
  if ((settings.get("extensions.refstorage") ?? "files").toLowerCase() !== "files") {
    throw new EngineError(
      "Unsupported",
      `${directory} stores its refs in a ${settings.get("extensions.refstorage")}`,
      "Run `git refs migrate --ref-format=files`"
    )
  }
}

const settingsOf = (directory: string): ReadonlyMap<string, string> => {
  const file = path.join(directory, "config")
  if (!pathExists(file)) return new Map()
  return new Map(
    parseConfig(file, fs.readFileSync(file, "utf8")).map((setting) => [settingName(setting), setting.value])
  )
}
