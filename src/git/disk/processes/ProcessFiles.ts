import * as fs from "node:fs"
import * as path from "node:path"
import { fileIdOf, hasErrorCode } from "../files/FileOperations.js"
import { linkText, type Mount, mounts, readText } from "./ProcessIdentity.js"

/** File systems of a server. If it does not respond, a look at their files waits for good, and with it this whole process. */
const served =
  /^(?:9p|afs|autofs|beegfs|ceph|cifs|coda|fuse|fuseblk|gfs2|glusterfs|gpfs|lustre|nfs|nfs4|ocfs2|orangefs|pvfs2|smb3|smbfs|vboxsf|virtiofs)(?:\.|$)/

/** A file or directory, without symbolic links. */
export interface Place {
  /** Its path in the process that uses it. */
  readonly text: string
  /** The path by which this process reaches it. */
  readonly at: string
}

/** The files of a process, by the paths that have a meaning in its own container. Only the kernel knows where they lead. */
export interface ProcessFiles {
  /** The working directory; undefined if it may not be looked at. */
  readonly working: Place | undefined
  /** Follows a path of the process, relative to a directory. Undefined if it leads nowhere or may not be looked at. */
  readonly follow: (from: Place, file: string) => Place | undefined
  /** Identifies a file by whatever path it is reached; undefined like `follow`. */
  readonly idOf: (place: Place) => string | undefined
  /** Whether something could not be looked at that the process may use. */
  readonly hides: () => boolean
}

/** As many as Linux follows. */
const maxLinks = 40

/** What a process may do: its users, groups and capabilities. */
const rightsOf = (pid: string): string | undefined =>
  readText(`/proc/${pid}/status`)
    ?.split("\n")
    .filter((line) => /^(?:Uid|Gid|Groups|CapEff):/.test(line))
    .map((line) => line.trim())
    .join("\n")

type Mounts = ReadonlyMap<string, Mount>

/** The mounts that a process sees, by their paths. Of several at one path, the last hides the others. */
const mountsOf = (pid?: string): Mounts | undefined => {
  const all = mounts(pid)
  return all && new Map(all.map((mount) => [mount.at, mount]))
}

const mountOf = (mounted: Mounts, file: string): Mount | undefined => {
  const mount = mounted.get(file)
  const above = path.dirname(file)
  return mount !== undefined || above === file ? mount : mountOf(mounted, above)
}

/** The directories of which an overlay consists. */
const layersOf = ({ options, type }: Mount): ReadonlyArray<string> =>
  type === "overlay"
    ? [...options.matchAll(/\b(?:lower|upper|data)dir\+?=([^, ]*)/g)]
        .flatMap(([, directories = ""]) => directories.split(":"))
        .filter((directory) => path.isAbsolute(directory))
    : []

/** A directory and those above it. */
export const andAbove = (directory: string): ReadonlyArray<string> => {
  const parent = path.dirname(directory)
  return parent === directory ? [directory] : [directory, ...andAbove(parent)]
}

/** The devices of a file of this process and of the directories above it, as `processFiles` takes them. */
export const devicesTo = (file: string): ReadonlySet<string> => {
  const mounted = mountsOf()
  return new Set(mounted && andAbove(file).flatMap((place) => mountOf(mounted, place)?.device ?? []))
}

/**
 * The files of a process with this id, or of this one (`self`). Files of a server are looked at only if they are on a device that is
 * given: those to the repository, for which everybody waits anyway.
 */
export const processFiles = (pid: string, devices: ReadonlySet<string>): ProcessFiles => {
  const mounted = mountsOf(pid)
  const root = { text: "/", at: `/proc/${pid}/root` }
  let hides = false

  /** Whether nobody knows how long a look at a file takes. */
  const isServed = (file: string): boolean => {
    if (mounted === undefined) return false
    const mount = mountOf(mounted, file)
    if (mount === undefined || devices.has(mount.device)) return false
    const layers = layersOf(mount).map((directory) => mountOf(mounted, directory)?.type ?? "")
    return [mount.type, ...layers].some((type) => served.test(type))
  }

  let hasOwnRights: boolean | undefined

  /** Where this process may not look, one with the same rights has no business either. */
  const mayNotLook = (cause: unknown): undefined => {
    if (!hasErrorCode(cause, "EACCES", "EPERM")) return
    hasOwnRights ??= rightsOf(pid) === rightsOf("self")
    if (!hasOwnRights) hides = true
  }

  const follow = (from: Place, file: string, links = maxLinks): Place | undefined => {
    let place = path.isAbsolute(file) ? root : from
    const parts = file.split("/").filter((part) => part !== "" && part !== ".")
    for (const [index, part] of parts.entries()) {
      const next = { text: path.join(place.text, part), at: `${place.at}/${part}` }
      if (isServed(next.text)) {
        hides = true
        return undefined
      }
      try {
        const target = fs.readlinkSync(next.at)
        if (links === 0) return undefined
        return follow(place, [target, ...parts.slice(index + 1)].join("/"), links - 1)
      } catch (cause) {
        // No symbolic link.
        if (!hasErrorCode(cause, "EINVAL")) return mayNotLook(cause)
      }
      place = next
    }
    return place
  }

  /**
   * Found by its path: the link of the kernel also leads to a disk that is unmounted or covered by another one, as one that does not
   * respond.
   */
  const workingDirectory = (): Place | undefined => {
    const text = linkText(`/proc/${pid}/cwd`)
    const rootText = linkText(root.at)
    if (mounted === undefined || text === undefined || rootText === undefined) return undefined
    const inRoot = path.relative(rootText, text)
    return path.isAbsolute(text) && !/^\.\.(\/|$)/.test(inRoot) ? follow(root, inRoot) : undefined
  }

  return {
    working: workingDirectory(),
    follow,
    idOf: ({ at }) => {
      try {
        return fileIdOf(fs.statSync(at, { bigint: true }))
      } catch (cause) {
        return mayNotLook(cause)
      }
    },
    hides: () => hides
  }
}
