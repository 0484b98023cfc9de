import type { Stats } from "node:fs"
import { type PlatformError, SystemError } from "@effect/platform/Error"
import { type File, FileSystem, makeNoop, Size } from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Sink from "effect/Sink"
import { RemoteError } from "../../domain/errors/StoreError.js"

/** Read from `process` at run time: a browser bundle then contains no Node module, and a Node bundle needs no package. */
const nodeFileSystem = () => globalThis.process?.getBuiltinModule?.("node:fs/promises")

type NodeFileSystem = NonNullable<ReturnType<typeof nodeFileSystem>>

const attempt = <A>(method: string, path: string, run: () => Promise<A>): Effect.Effect<A, PlatformError> =>
  Effect.tryPromise({
    try: run,
    catch: (cause) =>
      new SystemError({
        reason: cause instanceof Error && "code" in cause && cause.code === "ENOENT" ? "NotFound" : "Unknown",
        module: "FileSystem",
        method,
        pathOrDescriptor: path,
        description: cause instanceof Error ? cause.message : String(cause),
        cause
      })
  })

/** The type and mode of a file, which are the only members that an export reads. */
const fileInfo = (found: Stats): File.Info => {
  const none = Option.none()
  return {
    type: found.isFile() ? "File" : found.isDirectory() ? "Directory" : "Unknown",
    mode: found.mode,
    dev: found.dev,
    size: Size(found.size),
    ...{ mtime: none, atime: none, birthtime: none, ino: none, nlink: none, uid: none, gid: none },
    ...{ rdev: none, blksize: none, blocks: none }
  }
}

/** The file operations that an export needs. All others of `FileSystem` fail with NotFound. */
const make = (fs: NodeFileSystem): FileSystem =>
  makeNoop({
    chmod: (path, mode) => attempt("chmod", path, () => fs.chmod(path, mode)),
    realPath: (path) => attempt("realPath", path, () => fs.realpath(path)),
    remove: (path) => attempt("remove", path, () => fs.rm(path)),
    rename: (from, to) => attempt("rename", from, () => fs.rename(from, to)),
    stat: (path) => attempt("stat", path, async () => fileInfo(await fs.stat(path))),
    sink: (path, options) =>
      Sink.unwrapScoped(
        Effect.map(
          Effect.acquireRelease(
            attempt("open", path, () => fs.open(path, options?.flag ?? "w", options?.mode)),
            (file) => Effect.ignoreLogged(attempt("close", path, () => file.close()))
          ),
          (file) => Sink.forEach((bytes: Uint8Array) => attempt("write", path, () => file.writeFile(bytes)))
        )
      )
  })

/** Provides the file system of this machine if the destination is a file path. */
export const provideFileSystem = <A, E>(
  destination: string | WritableStream<Uint8Array>,
  effect: Effect.Effect<A, E, FileSystem>
): Effect.Effect<A, E | RemoteError> => {
  if (typeof destination !== "string") return Effect.provideService(effect, FileSystem, makeNoop({}))
  const fs = nodeFileSystem()
  return fs === undefined
    ? new RemoteError({
        operation: "export",
        reason: "Unsupported",
        message: "there is no file system here",
        hint: "pass a WritableStream, or run on Node"
      })
    : Effect.provideService(effect, FileSystem, make(fs))
}
