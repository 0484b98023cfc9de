import * as fs from "node:fs"
import * as path from "node:path"
import { isRefName } from "../Names.js"
import { hasHead, makeDirectorySync } from "./files/Directories.js"
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

/**
 * Creates an empty bare repository, readable for its owner only. It is written to a temporary directory and renamed, so that no
 * incomplete repository is visible. If another process created it meanwhile, that repository is used.
 */
export const create = async (directory: string, defaultBranch: string, durable: boolean): Promise<void> => {
  if (!isRefName(defaultBranch)) {
    throw new EngineError("Unsupported", `${JSON.stringify(defaultBranch)} is not a valid name of a branch`)
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
            `${directory} exists and is not a bare repository`,
            "Choose another directory"
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
