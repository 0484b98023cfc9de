import { Effect, Option } from "effect"
import type { RemoteError } from "../../../domain/errors/StoreError.js"
import type { Oid } from "../../../domain/identifiers/Oid.js"
import { trim } from "../../../domain/text/TrimText.js"
import type { GitRepository } from "../../../git/disk/port/GitRepository.js"
import type { TreeEntry } from "../../../git/Tree.js"
import * as Api from "../../../store/remote/github/api/Contents.js"
import { conflict, HostError, notFound, unprocessable } from "../reply/HostError.js"
import * as Reply from "../reply/Reply.js"
import * as BlobSizes from "../repository/BlobSizes.js"
import { isPath } from "../repository/HostNames.js"
import type { HostedRepository } from "../repository/Repositories.js"
import * as RevisionLookup from "../repository/RevisionLookup.js"
import * as Base64Content from "../request/Base64Content.js"
import * as BlobReply from "../request/BlobReply.js"
import * as ConditionalReply from "../request/ConditionalReply.js"
import * as DeclaredBody from "../request/DeclaredBody.js"
import * as FileContent from "../request/FileContent.js"
import type { HostCall } from "../request/HostCall.js"
import * as JsonBody from "../request/JsonBody.js"
import * as JsonFields from "../request/JsonFields.js"
import * as Route from "../request/Route.js"
import * as CommitView from "./CommitView.js"
import { view, viewer } from "./ContentView.js"
import * as SingleFileCommit from "./SingleFileCommit.js"

const megabyte = 1024 * 1024

/** The maximum size of inline content in JSON, and of any served blob. */
const inlineBytes = megabyte
const servedBytes = 100 * megabyte

/** GitHub's maximum number of entries of a directory. */
const listedEntries = 1000

const tooLarge = new HostError({
  status: 403,
  message:
    "This API returns blobs up to 100 MB in size. The requested blob is too large to fetch via the API, but you can always clone the repository via Git in order to obtain it.",
  errors: [{ resource: "Blob", field: "data", code: "too_large" }]
})

const sizeOf = (git: GitRepository, entry: TreeEntry): Effect.Effect<number, RemoteError> =>
  Effect.map(BlobSizes.of(git, entry), (size) => size ?? 0)

const content = (git: GitRepository, oid: Oid) =>
  Effect.flatMap(git.object(oid), (object) =>
    Option.isSome(object) ? Effect.succeed(object.value.content) : Effect.fail(notFound)
  )

const typeOf = (call: HostCall, entry: TreeEntry, listed: boolean): string => {
  if (entry.kind === "tree") return "dir"
  if (entry.kind === "commit") return listed && call.version === "2022-11-28" ? "file" : "submodule"
  return entry.mode === "120000" ? "symlink" : "file"
}

const directory = (call: HostCall, hosted: HostedRepository, ref: string, path: string, oid: Oid) =>
  Effect.gen(function* () {
    const found = yield* hosted.git.tree(oid, "")
    const entries = Option.match(found, {
      onNone: () => [],
      onSome: (tree) => tree.entries.slice(0, listedEntries)
    })
    const shown = viewer(call, hosted, ref)
    const listing: Array<ReturnType<typeof view>> = []
    for (const entry of entries) {
      const size = BlobSizes.known(entry) ?? (yield* sizeOf(hosted.git, entry))
      listing.push(
        shown({
          type: typeOf(call, entry, true),
          path: path === "" ? entry.path : `${path}/${entry.path}`,
          oid: entry.oid,
          size
        })
      )
    }
    return call.media === "object"
      ? Reply.okJson({ ...view(call, hosted, ref, { type: "dir", path, oid, size: 0 }), entries: listing })
      : Reply.okJson(listing)
  })

/** A reply with a file as JSON or as raw bytes. */
export const file = (call: HostCall, hosted: HostedRepository, ref: string, path: string, entry: TreeEntry) =>
  Effect.gen(function* () {
    const size = yield* sizeOf(hosted.git, entry)
    if (size > servedBytes) return yield* tooLarge
    if (call.media === "raw")
      return yield* BlobReply.raw(yield* BlobReply.open(call, hosted.git, entry.oid, size))
    const at = view(call, hosted, ref, { type: "file", path, oid: entry.oid, size })
    return Reply.okJson(
      size > inlineBytes
        ? { ...at, content: "", encoding: "none" }
        : {
            ...at,
            content: Base64Content.encodeLines(yield* content(hosted.git, entry.oid)),
            encoding: "base64"
          }
    )
  })

const resolveLink = (path: string, target: string): string | undefined => {
  if (target.startsWith("/")) return undefined
  const parts = path.split("/").slice(0, -1)
  for (const part of target.split("/")) {
    if (part === "..") {
      if (parts.pop() === undefined) return undefined
    } else if (part !== "." && part !== "") parts.push(part)
  }
  return parts.join("/")
}

const symlink = (
  call: HostCall,
  hosted: HostedRepository,
  ref: string,
  root: Oid,
  path: string,
  entry: TreeEntry
) =>
  Effect.gen(function* () {
    const bytes = yield* content(hosted.git, entry.oid)
    const target = new TextDecoder().decode(bytes)
    const followed = resolveLink(path, target)
    const aim =
      followed === undefined || !isPath(followed) ? Option.none() : yield* hosted.git.lookup(root, followed)
    if (Option.isSome(aim) && aim.value.kind === "blob" && aim.value.mode !== "120000") {
      return yield* file(call, hosted, ref, path, { ...aim.value, path })
    }
    const at = view(call, hosted, ref, { type: "symlink", path, oid: entry.oid, size: bytes.length })
    return Reply.okJson({ ...at, target })
  })

/** The URL of a submodule in `.gitmodules`. */
const submoduleUrl = (git: GitRepository, root: Oid, path: string) =>
  Effect.gen(function* () {
    const found = yield* git.lookup(root, ".gitmodules")
    if (Option.isNone(found) || found.value.kind !== "blob") return ""
    const text = new TextDecoder().decode(yield* content(git, found.value.oid))
    const section = text
      .split(/^\[/m)
      .find((one) => one.split("\n").some((line) => line.trim() === `path = ${path}`))
    return /^\s*url = (.*)$/m.exec(section ?? "")?.[1]?.trim() ?? ""
  })

/** The commit of the `ref` parameter. Default: the default branch. */
export const readAt = (call: HostCall, hosted: HostedRepository) =>
  Effect.gen(function* () {
    const { git } = hosted
    const asked = call.query.get("ref") || (yield* git.defaultBranch)
    const found = yield* RevisionLookup.commitOf(git, asked)
    if (Option.isSome(found)) return { ref: asked, commit: found.value }
    const message = (yield* RevisionLookup.isEmpty(git))
      ? "This repository is empty."
      : `No commit found for the ref ${asked.slice(0, 255)}`
    return yield* new HostError({ status: 404, message })
  })

const normal = (path: string) => trim(path, /\//)

const get = Route.read(Api.getContent, function* (call, hosted) {
  const { git } = hosted
  const { commit, ref } = yield* readAt(call, hosted)
  const path = normal(call.parameters["path"] ?? "")
  const listed = (oid: Oid) =>
    ConditionalReply.cached(call, `dir ${oid} ${ref}`, directory(call, hosted, ref, path, oid))
  if (path === "") return yield* listed(commit.tree)
  if (!isPath(path)) return yield* notFound
  const found = yield* git.lookup(commit.tree, path)
  if (Option.isNone(found)) return yield* notFound
  const entry = found.value
  switch (typeOf(call, entry, false)) {
    case "dir":
      return yield* listed(entry.oid)
    case "symlink":
      return yield* ConditionalReply.cached(
        call,
        `link ${commit.tree} ${ref}`,
        symlink(call, hosted, ref, commit.tree, path, entry)
      )
    case "submodule": {
      const at = view(call, hosted, ref, { type: "submodule", path, oid: entry.oid, size: 0 })
      return ConditionalReply.json(call, {
        ...at,
        submodule_git_url: yield* submoduleUrl(git, commit.tree, path)
      })
    }
    default:
      return yield* ConditionalReply.cached(
        call,
        `file ${entry.oid} ${ref}`,
        file(call, hosted, ref, path, entry)
      )
  }
})

const putPrecondition =
  ({ path, sha }: SingleFileCommit.FileWrite): SingleFileCommit.Precondition =>
  (existing) =>
    Option.isNone(existing)
      ? Effect.void
      : existing.value.kind === "tree"
        ? Effect.fail(unprocessable(`${path} is a directory`))
        : sha === undefined
          ? Effect.fail(unprocessable(`Invalid request.\n\n"sha" wasn't supplied.`))
          : existing.value.oid !== sha
            ? Effect.fail(conflict(`${path} does not match ${sha}`))
            : Effect.void

export const routes: ReadonlyArray<Route.Route> = [
  get,
  { ...get, path: "/repos/{owner}/{repo}/contents" },
  Route.write(Api.putContent, function* (call, hosted) {
    const body = yield* JsonBody.readDeclared(call, Api.putContent, "content")
    const path = normal(call.parameters["path"] ?? "")
    const { message } = yield* body.get("message")
    const content = yield* FileContent.fromBase64((yield* JsonFields.content(body.fields, "content")) ?? "")
    const put = (hosted: HostedRepository) =>
      Effect.gen(function* () {
        const write = yield* SingleFileCommit.parse(call, hosted, body.fields, path)
        const judge = putPrecondition(write)
        const change = yield* SingleFileCommit.changeFor(hosted, write, content, judge)
        const committed = yield* SingleFileCommit.commit(hosted, write, message, change, judge)
        return { ...committed, branch: write.branch }
      })
    const result = yield* call.host.repositories.firstWrite(hosted, put)
    const at = view(call, hosted, result.branch, {
      type: "file",
      path,
      oid: result.blob!,
      size: content.size
    })
    return Reply.json(result.existed ? 200 : 201, {
      content: at,
      commit: CommitView.gitCommit(call.links, hosted.fullName, result.info)
    })
  }),
  Route.write(Api.deleteContent, function* (call, hosted) {
    const sent = yield* JsonBody.read(call)
    // GitHub accepts the fields of a DELETE also in the query.
    const body = yield* DeclaredBody.fromFields(Api.deleteContent, {
      ...Object.fromEntries(call.query),
      ...sent
    })
    const path = normal(call.parameters["path"] ?? "")
    const { message } = yield* body.get("message")
    const write = yield* SingleFileCommit.parse(call, hosted, body.fields, path)
    const result = yield* SingleFileCommit.commit(
      hosted,
      write,
      message,
      { _tag: "Remove", path },
      (existing) =>
        Option.isNone(existing) || existing.value.kind === "tree"
          ? Effect.fail(notFound)
          : existing.value.oid !== write.sha
            ? Effect.fail(conflict(`${path} does not match ${write.sha}`))
            : Effect.void
    )
    return Reply.json(200, {
      content: null,
      commit: CommitView.gitCommit(call.links, hosted.fullName, result.info)
    })
  })
]
