import * as fs from "node:fs"
import * as path from "node:path"
import { makePath } from "./Directory.js"
import { fsyncPath } from "./Disk.js"
import { Fault } from "./Fault.js"
import { isRefName } from "./RefName.js"

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
  fs.existsSync(path.join(directory, "HEAD")) && fs.existsSync(path.join(directory, "objects"))

/** Creates an empty bare repository: a finished one appears under its name, for its owner alone, or none. Another's creation is as good. */
export const create = async (directory: string, defaultBranch: string, durable: boolean): Promise<void> => {
  if (!isRefName(defaultBranch)) {
    throw new Fault("Unsupported", `${JSON.stringify(defaultBranch)} cannot be the name of a branch`)
  }
  const parent = path.resolve(path.dirname(directory))
  makePath(parent)
  const temporary = fs.mkdtempSync(path.join(parent, ".creating-"))
  try {
    for (const part of ["objects/info", "objects/pack", "refs/heads", "refs/tags", "info"]) {
      fs.mkdirSync(path.join(temporary, part), { recursive: true })
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
          throw new Fault("Denied", `${directory} exists and is no bare repository`, "Choose an empty place")
        }
        throw cause
      }
    }
    if (durable) await fsyncPath(parent)
  } finally {
    fs.rmSync(temporary, { recursive: true, force: true })
  }
}

/** Refuses repositories in a format that the engine would misread. */
export const checkFormat = (directory: string): void => {
  if (!fs.existsSync(directory)) {
    throw new Fault("Unreachable", `There is no repository at ${directory}`, "Create it, or check the path")
  }
  if (!isRepository(directory)) {
    throw new Fault("Corrupt", `${directory} is no bare repository`, "It must hold HEAD, objects and refs")
  }
  let config = ""
  try {
    config = fs.readFileSync(path.join(directory, "config"), "utf8").toLowerCase()
  } catch {
    return
  }
  if (/^[^#;\n]*objectformat\s*=\s*"?sha256/m.test(config)) {
    throw new Fault("Unsupported", `${directory} uses SHA-256 object ids`, "Use a repository with SHA-1 ids")
  }
  if (/^[^#;\n]*refstorage\s*=\s*"?reftable/m.test(config)) {
    throw new Fault(
      "Unsupported",
      `${directory} keeps its refs in a reftable`,
      "Run `git refs migrate --ref-format=files`"
    )
  }
}
