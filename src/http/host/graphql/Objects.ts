import { Chunk, Effect, Option, Stream } from "effect"
import type { Oid } from "../../../domain/Oid.js"
import type { CommitInfo, TreeEntry } from "../../../store/GitRemote.js"
import * as Differ from "../Differ.js"
import * as Git from "../Git.js"
import * as Links from "../Links.js"
import { isPath, isRefName, nodeId, numericId } from "../Names.js"
import { may } from "../Principal.js"
import type { Hosted } from "../Repositories.js"
import * as Revision from "../Revision.js"
import { seconds } from "../rest/RepositoryView.js"
import * as Tags from "../rest/Tags.js"
import * as Connection from "./Connection.js"
import type { Context } from "./Context.js"
import { failure } from "./GraphQlFailure.js"
import { text } from "./Text.js"

// Objects are plain: their members are values, or functions that GraphQL calls only where a query asks for them.

const named = (typename: string, context: Context, hosted: Hosted, oid: Oid) => {
  const path = `/${hosted.fullName}/commit/${oid}`
  return {
    __typename: typename,
    id: nodeId(typename, hosted.fullName, oid),
    oid,
    abbreviatedOid: oid.slice(0, 7),
    commitResourcePath: path,
    commitUrl: `${context.call.links.origin}${path}`,
    repository: () => repository(context, hosted)
  }
}

/** An account; every name has one. */
export const user = (context: Context, login: string) => {
  const owned = (name?: string) =>
    context.run(
      Effect.map(context.repositories.visible(context.call.principal), (all) =>
        all.filter((named) => named.owner === login && (name === undefined || named.name === name))
      ).pipe(
        Effect.flatMap(
          Effect.forEach((named) =>
            context.repositories.reading(context.call.principal, named.owner, named.name)
          )
        )
      )
    )
  return {
    __typename: "User",
    id: nodeId("User", login),
    databaseId: numericId(login),
    login,
    name: login,
    email: "",
    url: `${context.call.links.origin}/${login}`,
    avatarUrl: `${context.call.links.origin}/avatars/${login}`,
    repositories: async (args: Connection.ConnectionArguments & { readonly visibility?: string | null }) => {
      const all = await owned()
      const wanted = all.filter(
        ({ settings }) => !args.visibility || settings.private === (args.visibility === "PRIVATE")
      )
      return Connection.slice(
        "repositories",
        args,
        wanted.map((hosted) => repository(context, hosted))
      )
    },
    repository: async ({ name }: { readonly name: string }) =>
      (await owned(name)).map((hosted) => repository(context, hosted))[0] ?? null
  }
}

export const repository = (context: Context, hosted: Hosted) => {
  const { call, run } = context
  const { fullName, git, name, owner, settings } = hosted
  const write = may(call.principal, "write", fullName)
  const head = Effect.gen(function* () {
    const tip = yield* git.ref(`refs/heads/${yield* git.defaultBranch}`)
    return Option.isSome(tip) ? yield* git.commit(tip.value) : Option.none<CommitInfo>()
  })
  const pushedAt = () =>
    run(
      Effect.map(
        head,
        Option.match({ onNone: () => null, onSome: ({ committer }) => seconds(committer.date) })
      )
    )
  return {
    __typename: "Repository",
    id: nodeId("Repository", owner, name),
    databaseId: numericId(fullName),
    name,
    nameWithOwner: fullName,
    description: settings.description,
    isPrivate: settings.private,
    isArchived: false,
    isFork: false,
    visibility: settings.private ? "PRIVATE" : "PUBLIC",
    viewerCanAdminister: write,
    viewerPermission: write ? "ADMIN" : "READ",
    url: Links.html(call.links, fullName),
    sshUrl: `git@${new URL(call.links.origin).hostname}:${fullName}.git`,
    diskUsage: null,
    createdAt: settings.createdAt,
    updatedAt: async () => (await pushedAt()) ?? settings.createdAt,
    pushedAt,
    owner: () => user(context, owner),
    isEmpty: () => run(Revision.isEmpty(git)),
    defaultBranchRef: () =>
      run(Effect.flatMap(git.defaultBranch, (branch) => refNamed(context, hosted, `refs/heads/${branch}`))),
    ref: ({ qualifiedName }: { readonly qualifiedName: string }) =>
      run(
        Effect.gen(function* () {
          const candidates = qualifiedName.startsWith("refs/")
            ? [qualifiedName]
            : [`refs/heads/${qualifiedName}`, `refs/tags/${qualifiedName}`, `refs/${qualifiedName}`]
          for (const candidate of candidates) {
            const found = yield* refNamed(context, hosted, candidate)
            if (found !== null) return found
          }
          return null
        })
      ),
    refs: (
      args: Connection.ConnectionArguments & { readonly refPrefix: string; readonly query?: string | null }
    ): Promise<unknown> =>
      run(
        Effect.gen(function* () {
          const prefix = args.refPrefix.endsWith("/") ? args.refPrefix : `${args.refPrefix}/`
          const plain = prefix === "refs/" || (prefix.startsWith("refs/") && isRefName(prefix.slice(0, -1)))
          const found = plain ? yield* git.refs(prefix) : []
          const wanted = found.filter((one) => !args.query || one.name.includes(args.query))
          return wanted.map((one) => ref(context, hosted, one.name, one.oid))
        })
      ).then((all) => Connection.slice("refs", args, all)),
    object: ({ expression, oid }: { readonly expression?: string | null; readonly oid?: string | null }) =>
      run(objectAt(context, hosted, expression ?? oid ?? ""))
  }
}

const refNamed = (context: Context, hosted: Hosted, name: string) =>
  Effect.map(
    isRefName(name) ? hosted.git.ref(name) : Effect.succeedNone,
    Option.match({ onNone: () => null, onSome: (oid) => ref(context, hosted, name, oid) })
  )

export const ref = (context: Context, hosted: Hosted, name: string, oid: Oid) => {
  const [, prefix = "refs/", short = name] = /^(refs\/(?:heads|tags)\/|refs\/)(.*)$/.exec(name) ?? []
  return {
    __typename: "Ref",
    id: nodeId("Ref", hosted.fullName, name),
    name: short,
    prefix,
    repository: () => repository(context, hosted),
    target: () => context.run(gitObject(context, hosted, oid))
  }
}

/** The object that `revision` or `revision:path` names; null when there is none. */
const objectAt = (context: Context, hosted: Hosted, expression: string) =>
  Effect.gen(function* () {
    const { git } = hosted
    const colon = expression.indexOf(":")
    if (colon < 0) {
      const oid = Revision.asOid(expression)
      if (oid !== undefined && Option.isSome(yield* git.objectInfo(oid)))
        return yield* gitObject(context, hosted, oid)
      const info = yield* Revision.commitOf(git, expression)
      return Option.isSome(info) ? commit(context, hosted, info.value) : null
    }
    const path = expression.slice(colon + 1).replace(/\/+$/, "")
    const root = yield* Revision.treeOf(git, expression.slice(0, colon))
    if (Option.isNone(root)) return null
    if (path === "") return tree(context, hosted, root.value, "")
    const entry = isPath(path) ? yield* git.lookup(root.value, path) : Option.none()
    return Option.isSome(entry) ? entryObject(context, hosted, entry.value, path) : null
  })

export const gitObject = (context: Context, hosted: Hosted, oid: Oid) =>
  Effect.gen(function* () {
    const { git } = hosted
    const info = yield* git.objectInfo(oid)
    if (Option.isNone(info)) return null
    switch (info.value.type) {
      case "blob":
        return blob(context, hosted, oid)
      case "tree":
        return tree(context, hosted, oid, "")
      case "commit": {
        const found = yield* git.commit(oid)
        return Option.isSome(found) ? commit(context, hosted, found.value) : null
      }
      case "tag":
        return yield* tag(context, hosted, oid)
    }
  })

const blob = (context: Context, hosted: Hosted, oid: Oid) => {
  const { run } = context
  const { git } = hosted
  const size = () =>
    run(Effect.map(git.objectInfo(oid), Option.match({ onNone: () => 0, onSome: (info) => info.size })))
  let read: ReturnType<typeof load> | undefined
  const load = () =>
    run(
      Effect.map(
        git.object(oid),
        Option.match({ onNone: () => text(new Uint8Array()), onSome: ({ content }) => text(content) })
      )
    )
  const content = () => {
    read ??= load()
    return read
  }
  return {
    ...named("Blob", context, hosted, oid),
    byteSize: size,
    isBinary: () => content().then(({ isBinary }) => isBinary),
    isTruncated: () => content().then(({ isTruncated }) => isTruncated),
    text: () => content().then((shown) => shown.text)
  }
}

const tree = (context: Context, hosted: Hosted, oid: Oid, path: string) => ({
  ...named("Tree", context, hosted, oid),
  entries: () =>
    context.run(
      Effect.map(hosted.git.tree(oid, ""), (found) =>
        Option.match(found, {
          onNone: () => [],
          onSome: ({ entries }) =>
            entries.map((one) => entry(context, hosted, one, path === "" ? one.path : `${path}/${one.path}`))
        })
      )
    )
})

const entryObject = (context: Context, hosted: Hosted, found: TreeEntry, path: string) =>
  found.kind === "blob"
    ? blob(context, hosted, found.oid)
    : found.kind === "tree"
      ? tree(context, hosted, found.oid, path)
      : null

const entry = (context: Context, hosted: Hosted, found: TreeEntry, path: string) => {
  const name = path.slice(path.lastIndexOf("/") + 1)
  const base64 = (value: string) => Buffer.from(value).toString("base64")
  return {
    name,
    nameRaw: base64(name),
    path,
    pathRaw: base64(path),
    mode: Number.parseInt(found.mode, 8),
    type: found.kind,
    oid: found.oid,
    extension: /\.[^.]*$/.exec(name)?.[0] ?? "",
    isGenerated: false,
    repository: () => repository(context, hosted),
    object: () => entryObject(context, hosted, found, path),
    size: () =>
      found.kind !== "blob"
        ? 0
        : (found.size ??
          context.run(
            Effect.map(
              hosted.git.objectInfo(found.oid),
              Option.match({ onNone: () => 0, onSome: ({ size }) => size })
            )
          ))
  }
}

const actor = (context: Context, who: CommitInfo["author"]) => ({
  name: who.name,
  email: who.email,
  date: seconds(who.date),
  avatarUrl: `${context.call.links.origin}/avatars/${encodeURIComponent(who.email)}`,
  user: null
})

/** Above this size GitHub does not resolve a file of a commit. */
const resolvedBytes = 10_000_000

export const commit = (context: Context, hosted: Hosted, info: CommitInfo) => {
  const { call, run } = context
  const { fullName, git } = hosted
  const { author, commit: oid, committer, parents } = info
  const message = info.message.replace(/\n+$/, "")
  const [headline = "", ...rest] = message.split("\n")
  let counted: ReturnType<typeof count> | undefined
  const count = () => run(Differ.changes(git, Option.fromNullable(parents[0]), oid))
  const changes = () => {
    counted ??= count()
    return counted
  }
  const sum = (key: "additions" | "deletions") => () =>
    changes().then((files) => files.reduce((total, file) => total + file[key], 0))
  return {
    ...named("Commit", context, hosted, oid),
    message,
    messageHeadline: headline,
    messageBody: rest.join("\n").trim(),
    author: actor(context, author),
    committer: actor(context, committer),
    authoredByCommitter: author.email === committer.email,
    authoredDate: seconds(author.date),
    committedDate: seconds(committer.date),
    additions: sum("additions"),
    deletions: sum("deletions"),
    changedFilesIfAvailable: () => changes().then((files) => files.length),
    url: Links.html(call.links, fullName, "commit", oid),
    treeUrl: Links.html(call.links, fullName, "tree", oid),
    tarballUrl: `${call.links.origin}/api/codeload/${fullName}/legacy.tar.gz/${oid}`,
    zipballUrl: `${call.links.origin}/api/codeload/${fullName}/legacy.zip/${oid}`,
    tree: () => tree(context, hosted, info.tree, ""),
    file: ({ path }: { readonly path: string }) =>
      run(
        Effect.gen(function* () {
          const found = isPath(path) ? yield* git.lookup(info.tree, path) : Option.none()
          if (Option.isNone(found)) return null
          if (found.value.kind === "blob") {
            const size = yield* git.objectInfo(found.value.oid)
            if (Option.isSome(size) && size.value.size > resolvedBytes) {
              return yield* Effect.fail(failure("UNPROCESSABLE", "Could not resolve file over 10mb"))
            }
          }
          return entry(context, hosted, found.value, path)
        })
      ),
    parents: async (args: Connection.ConnectionArguments) => {
      const infos = await run(Effect.forEach(parents, (parent) => git.commit(parent)))
      return Connection.slice(
        "parents",
        args,
        infos.flatMap((one) => (Option.isSome(one) ? [commit(context, hosted, one.value)] : []))
      )
    },
    history: (args: HistoryArguments) => history(context, hosted, oid, args)
  }
}

export interface HistoryArguments extends Connection.ConnectionArguments {
  readonly path?: string | null
  readonly since?: string | null
  readonly until?: string | null
  readonly author?: { readonly emails?: ReadonlyArray<string> | null } | null
}

const timestamp = (given: string | null | undefined) => {
  if (given === null || given === undefined) return undefined
  const millis = Date.parse(given)
  if (Number.isNaN(millis)) throw failure("UNPROCESSABLE", `\`${given.slice(0, 60)}\` is not a GitTimestamp.`)
  return seconds(new Date(Math.max(0, millis)).toISOString())
}

const history = async (context: Context, hosted: Hosted, from: Oid, args: HistoryArguments) => {
  const { run } = context
  const { git } = hosted
  const { size, skip } = Connection.window("history", args)
  const path = args.path ? args.path.replace(/^\/+|\/+$/g, "") : ""
  const [since, until] = [timestamp(args.since), timestamp(args.until)]
  const author = args.author?.emails?.[0]
  if (path !== "" && !isPath(path)) return Connection.page([], 0, false, 0)
  const found = await run(
    Effect.map(
      Stream.runCollect(
        git.log(from, { ...(path === "" ? {} : { path }), limit: size + 1, skip, since, until, author })
      ),
      Chunk.toReadonlyArray
    )
  )
  const total = () =>
    run(
      Effect.map(
        Git.output({
          directory: git.directory,
          args: ["rev-list", "--count"].concat(
            since === undefined ? [] : [`--since=${since}`],
            until === undefined ? [] : [`--until=${until}`],
            [from, "--"],
            path === "" ? [] : [path]
          )
        }),
        ({ stdout }) => Number(stdout.toString().trim()) || 0
      )
    )
  const nodes = found.slice(0, size).map((info) => commit(context, hosted, info))
  return Connection.page(nodes, skip, found.length > size, total)
}

const tag = (context: Context, hosted: Hosted, oid: Oid) =>
  Effect.map(hosted.git.object(oid), (found) => {
    if (Option.isNone(found)) return null
    const { message, object, tag: name, tagger } = Tags.parse(found.value.content)
    const target = Revision.asOid(object)
    return {
      ...named("Tag", context, hosted, oid),
      name,
      message,
      tagger: tagger === undefined ? null : actor(context, tagger),
      target: () => (target === undefined ? null : context.run(gitObject(context, hosted, target)))
    }
  })
