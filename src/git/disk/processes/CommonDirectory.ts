import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { parseConfig, printConfig, type Setting, settingName } from "../files/ConfigFile.js"
import { EngineError } from "../files/EngineError.js"
import { hasErrorCode } from "../files/FileOperations.js"
import { identity, mayLive } from "./Processes.js"

/*
 * Git reads the configuration of a repository whatever it is told, and the settings by which that configuration can name
 * programs have no complete list: drivers have names of their own. Git also lets the directory that holds `config`,
 * `hooks`, `info`, `objects` and `refs` be another one than that of `HEAD` (`GIT_COMMON_DIR`, made for `git worktree`).
 * So each repository gets such a directory in a temporary place of this process: objects and refs are links to those of
 * the repository, the configuration is ours, and there are no hooks and no attributes.
 */

/** What a repository may decide for itself: no program, file or address can be named by these. */
const followed = new RegExp(
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
  ...settings.filter((setting) => followed.test(settingName(setting))),
  own("protocol", "allow", "never"),
  own("repack", "updateserverinfo", "false"),
  // Otherwise Git would ask a lender for its refs under the configuration of the lender. A program: a shell is not asked.
  own("core", "alternaterefscommand", "true"),
  // A partial clone stays one, so that its missing objects are no damage; nothing is fetched.
  ...(settings.some(isPromisor)
    ? [own("remote", "promisor", "true", "nowhere"), own("remote", "url", "/dev/null", "nowhere")]
    : [])
]

const shared = ["objects", "refs", "packed-refs", "shallow", "logs", "worktrees"]

const prefix = "chainstore-git-"

const removeDead = (temporary: string): void => {
  for (const name of fs.readdirSync(temporary)) {
    if (!name.startsWith(prefix) || mayLive(name.slice(prefix.length).split("~"))) continue
    try {
      fs.rmSync(path.join(temporary, name), { recursive: true, force: true })
    } catch {
      // That of another user.
    }
  }
}

let home: string | undefined

const homeOf = (): string => {
  if (home !== undefined && fs.existsSync(home)) return home
  const temporary = os.tmpdir()
  removeDead(temporary)
  const made = fs.mkdtempSync(path.join(temporary, `${prefix}${identity.join("~")}~`))
  if (home === undefined) process.once("exit", () => fs.rmSync(home!, { recursive: true, force: true }))
  home = made
  known.clear()
  return made
}

interface Known {
  readonly place: string
  readonly stamp: string
}

const known = new Map<string, Known>()
let count = 0

const stampOf = (file: string): string => {
  const found = fs.statSync(file, { bigint: true, throwIfNoEntry: false })
  return found === undefined ? "" : `${found.ino} ${found.size} ${found.mtimeNs} ${found.ctimeNs}`
}

const settingsOf = (file: string): ReadonlyArray<Setting> => {
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

/**
 * The directory that Git is to take for the common one of a bare repository. Throws where it cannot be made, or where the
 * configuration of the repository cannot be read.
 */
export const commonDirectory = (directory: string): string => {
  const file = path.join(directory, "config")
  const stamp = stampOf(file)
  const found = known.get(directory)
  const present = found !== undefined && fs.existsSync(path.join(found.place, "config"))
  if (present && found.stamp === stamp) return found.place
  const text = printConfig(configurationOf(settingsOf(file)))
  try {
    const place = present ? found.place : path.join(homeOf(), (count++).toString(36))
    if (!present) {
      fs.mkdirSync(place)
      for (const name of shared) fs.symlinkSync(path.join(directory, name), path.join(place, name))
    }
    const next = path.join(place, "config.next")
    fs.writeFileSync(next, text)
    fs.renameSync(next, path.join(place, "config"))
    known.set(directory, { place, stamp })
    return place
  } catch (cause) {
    throw unusable(cause)
  }
}

/** Removes the directory that was made for a repository which is not used any more. */
export const forgetCommonDirectory = (directory: string): void => {
  const found = known.get(directory)
  known.delete(directory)
  if (found !== undefined) fs.rmSync(found.place, { recursive: true, force: true })
}

/**
 * Git runs this when a push was checked and before it is applied. Where the other end of the channel is gone, the push is
 * refused, so that nothing is applied for a process that does not live. No branch or tag is made with a name that GitHub
 * refuses (`isAmbiguousName`).
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

/** The only hooks that Git is ever given. */
export const hooksDirectory = (): string => {
  const place = path.join(homeOf(), "hooks")
  const hook = path.join(place, "pre-receive")
  try {
    if (!fs.existsSync(hook)) {
      fs.mkdirSync(place, { recursive: true })
      fs.writeFileSync(`${hook}.next`, preReceive, { mode: 0o700 })
      fs.renameSync(`${hook}.next`, hook)
    }
    // Git takes no notice of a hook that may not be run.
    fs.accessSync(hook, fs.constants.X_OK)
  } catch (cause) {
    throw unusable(cause)
  }
  return place
}
