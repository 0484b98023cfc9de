import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { parseConfig, printConfig, type Setting, settingName } from "../files/ConfigFile.js"
import { EngineError } from "../files/EngineError.js"
import { hasErrorCode } from "../files/FileOperations.js"
import { identity, linkText, mayLive } from "./ProcessIdentity.js"

/*
 * Git always reads the configuration of a repository. That configuration can name programs to run, and the settings that can do
 * so have no complete list, since drivers have names of their own. But `GIT_COMMON_DIR` (made for `git worktree`) names a directory
 * that replaces the repository's `config`, `hooks`, `info`, `objects` and `refs`. So each repository gets a common directory below
 * the temporary directory of this process: its `objects` and `refs` are links to those of the repository, its configuration is
 * written here, and it has no hooks and no attributes.
 */

/** The settings that are copied from the repository. None of them can name a program, a file or an address. */
const copiedSettings = new RegExp(
  `^(?:${[
    "core\\.(?:sharedrepository|fsync|fsyncmethod|compression|loosecompression|bigfilethreshold)",
    "core\\.(?:deltabasecachelimit|packedgitlimit|packedgitwindowsize|filesreflocktimeout|packedrefstimeout)",
    "extensions\\.preciousobjects",
    "pack\\.(?!indexversion$)[a-z]+",
    "receive\\.(?:denycurrentbranch|denydeletes|denynonfastforwards|fsckobjects|hiderefs|unpacklimit)",
    "receive\\.fsck\\.(?!skiplist$)[a-z]+",
    "transfer\\.(?:fsckobjects|hiderefs|unpacklimit)",
    "uploadpack\\.hiderefs"
  ].join("|")})$`
)

const own = (section: string, name: string, value: string, subsection?: string): Setting => ({
  section,
  subsection,
  name,
  value
})

const isPromisor = ({ name, section, value }: Setting) =>
  (section === "extensions" && name === "partialclone") ||
  (section === "remote" && name === "promisor" && !/^(?:false|no|off|0|)$/i.test(value))

const configurationOf = (settings: ReadonlyArray<Setting>): ReadonlyArray<Setting> => [
  own("core", "repositoryformatversion", "0"),
  own("core", "bare", "true"),
  ...settings.filter((setting) => copiedSettings.test(settingName(setting))),
  own("protocol", "allow", "never"),
  own("repack", "updateserverinfo", "false"),
  // Otherwise Git would list the refs of an alternate repository under that repository's configuration. `true` is run without a shell.
  own("core", "alternaterefscommand", "true"),
  // A partial clone remains a partial clone, so that Git accepts its missing objects. Nothing can be fetched.
  ...(settings.some(isPromisor)
    ? [own("remote", "promisor", "true", "nowhere"), own("remote", "url", "/dev/null", "nowhere")]
    : [])
]

const linkedNames = ["objects", "refs", "packed-refs", "shallow", "logs", "worktrees"]

const prefix = "chainstore-git-"

const removeDead = (temporary: string): void => {
  for (const name of fs.readdirSync(temporary)) {
    if (!name.startsWith(prefix) || mayLive(name.slice(prefix.length).split("~"))) continue
    try {
      fs.rmSync(path.join(temporary, name), { recursive: true, force: true })
    } catch {
      // It belongs to another user.
    }
  }
}

let home: string | undefined

const homeOf = (): string => {
  if (home !== undefined && fs.existsSync(home)) return home
  const temporary = os.tmpdir()
  removeDead(temporary)
  const created = fs.mkdtempSync(path.join(temporary, `${prefix}${identity.join("~")}~`))
  if (home === undefined) process.once("exit", () => fs.rmSync(home!, { recursive: true, force: true }))
  home = created
  prepared.clear()
  return created
}

interface PreparedDirectory {
  readonly path: string
  readonly stamp: string
}

const prepared = new Map<string, PreparedDirectory>()
let count = 0

const stampOf = (file: string): string => {
  const found = fs.statSync(file, { bigint: true, throwIfNoEntry: false })
  return found === undefined ? "" : `${found.ino} ${found.size} ${found.mtimeNs} ${found.ctimeNs}`
}

/** The settings in a configuration file. None if it is missing. */
export const settingsIn = (file: string): ReadonlyArray<Setting> => {
  try {
    return parseConfig(file, fs.readFileSync(file, "utf8"))
  } catch (cause) {
    if (hasErrorCode(cause, "ENOENT")) return []
    throw cause
  }
}

const unusable = (cause: unknown) =>
  new EngineError(
    "Server",
    `Git was not started, as it needs a temporary directory: ${cause instanceof Error ? cause.message : cause}`,
    "Point TMPDIR to a directory whose files can be written and run",
    { cause }
  )

/** Whether nothing of a common directory was removed, as by a cleaner of temporary directories. Without `packed-refs`, Git misses refs. */
const isComplete = (common: string, directory: string): boolean =>
  fs.existsSync(path.join(common, "config")) &&
  linkedNames.every((name) => linkText(path.join(common, name)) === path.join(directory, name))

/**
 * The common directory of a bare repository. Throws if it cannot be created, or if the configuration of the repository cannot be
 * read.
 */
export const commonDirectory = (directory: string): string => {
  const file = path.join(directory, "config")
  const stamp = stampOf(file)
  const found = prepared.get(directory)
  const present = found !== undefined && isComplete(found.path, directory)
  if (present && found.stamp === stamp) return found.path
  const text = printConfig(configurationOf(settingsIn(file)))
  try {
    const target = present ? found.path : path.join(homeOf(), (count++).toString(36))
    if (!present) {
      fs.mkdirSync(target)
      for (const name of linkedNames) fs.symlinkSync(path.join(directory, name), path.join(target, name))
    }
    const next = path.join(target, "config.next")
    fs.writeFileSync(next, text)
    fs.renameSync(next, path.join(target, "config"))
    prepared.set(directory, { path: target, stamp })
    return target
  } catch (cause) {
    throw unusable(cause)
  }
}

/** How many engines of this process use a repository. */
const users = new Map<string, number>()

/** Says that an engine uses a repository. The returned function says that it has ended: the last one removes the common directory. */
export const keepCommonDirectory = (directory: string): (() => void) => {
  users.set(directory, (users.get(directory) ?? 0) + 1)
  return () => {
    const others = users.get(directory)! - 1
    if (others > 0) return void users.set(directory, others)
    users.delete(directory)
    const found = prepared.get(directory)
    prepared.delete(directory)
    if (found !== undefined) fs.rmSync(found.path, { recursive: true, force: true })
  }
}

/**
 * Git runs this hook after it has verified a push and before it applies it. The hook waits for a line on descriptor 3. It refuses
 * the push if this process has ended, and if a branch or tag has a name that GitHub refuses (`isAmbiguousName`).
 */
const preReceive = `#!/bin/sh
while read -r old new ref; do
  case $old in *[!0]*) continue ;; esac
  case $ref in
    refs/heads/*) name=\${ref#refs/heads/} ;;
    refs/tags/*) name=\${ref#refs/tags/} ;;
    *) continue ;;
  esac
  case $name in
    refs/*) ;;
    *[!0-9A-Fa-f]*) continue ;;
    *) [ "\${#name}" -eq 40 ] || continue ;;
  esac
  echo "$name is read as the id of an object or as the whole name of a ref: choose another name" >&2
  exit 1
done
echo ready >&3
read -r answer <&3
`

/** The directory of the only hooks that Git runs. */
export const hooksDirectory = (): string => {
  const hooks = path.join(homeOf(), "hooks")
  const hook = path.join(hooks, "pre-receive")
  try {
    if (!fs.existsSync(hook)) {
      fs.mkdirSync(hooks, { recursive: true })
      fs.writeFileSync(`${hook}.next`, preReceive, { mode: 0o700 })
      fs.renameSync(`${hook}.next`, hook)
    }
    // Git ignores a hook that is not executable.
    fs.accessSync(hook, fs.constants.X_OK)
  } catch (cause) {
    throw unusable(cause)
  }
  return hooks
}
