import * as fs from "node:fs"
import * as path from "node:path"
import { isRefName } from "../Names.js"
import { parseConfig, settingName } from "./files/ConfigFile.js"
import { hasHead, makeDirectorySync, pathExists } from "./files/Directories.js"
import { EngineError } from "./files/EngineError.js"
import { fsyncPath } from "./files/FileOperations.js"
import { creatingPrefix } from "./files/UnfinishedRepositories.js"

const configOf = (durable: boolean) => `[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = true
${durable ? "\tfsync = all\n" : ""}[gc]
\tauto = 0
[maintenance]
\tauto = false
[receive]
\tautogc = false
`

export const isRepository = (directory: string): boolean =>
  hasHead(directory) && fs.existsSync(path.join(directory, "objects"))

/** Creates an empty bare repository: a finished one appears under its name, for its owner alone, or none. Another's creation is as good. */
export const create = async (directory: string, defaultBranch: string, durable: boolean): Promise<void> => {
  if (!isRefName(defaultBranch)) {
    throw new EngineError("Unsupported", `${JSON.stringify(defaultBranch)} cannot be the name of a branch`)
  }
  const parent = path.resolve(path.dirname(directory))
  makeDirectorySync(parent)
  const temporary = fs.mkdtempSync(path.join(parent, creatingPrefix))
  try {
    for (const part of ["objects/info", "objects/pack", "refs/heads", "refs/tags", "info"]) {
      makeDirectorySync(path.join(temporary, part), false)
    }
    fs.writeFileSync(path.join(temporary, "HEAD"), `ref: refs/heads/${defaultBranch}\n`, { flush: durable })
    fs.writeFileSync(path.join(temporary, "config"), configOf(durable), { flush: durable })
    if (durable)
      await Promise.all(["objects", "refs", "."].map((part) => fsyncPath(path.join(temporary, part))))
    try {
      fs.renameSync(temporary, directory)
    } catch (cause) {
      if (!isRepository(directory)) {
        if (fs.existsSync(directory)) {
          throw new EngineError(
            "Denied",
            `${directory} exists and is no bare repository`,
            "Choose an empty place"
          )
        }
        throw cause
      }
    }
    if (durable) await fsyncPath(parent)
  } finally {
    fs.rmSync(temporary, { recursive: true, force: true })
  }
}

/** Extensions of the format that the engine understands, or that do not concern a bare repository. */
const known = new Set(
  [
    ...["noop", "noop-v1", "objectformat", "partialclone", "preciousobjects", "refstorage"],
    ...["relativeworktrees", "worktreeconfig"]
  ].map((name) => `extensions.${name}`)
)

/** Refuses repositories in a format that the engine would misread. */
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
      `${directory} is no bare repository`,
      "It must hold HEAD, objects and refs"
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
    if (version === 0 || !name.startsWith("extensions.") || known.has(name)) continue
    throw new EngineError(
      "Unsupported",
      `${directory} has the unknown extension ${name.slice("extensions.".length)}`,
      "Use a repository without it: what it means for refs and objects is not known here"
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
      `${directory} keeps its refs in a ${settings.get("extensions.refstorage")}`,
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
