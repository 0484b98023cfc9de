/**
 * A complete remote: it stores commits in Maps, with Git's ids of files and directories. The laws of remotes list the
 * promises that it does not keep; a store works with it nevertheless.
 *
 * Output:
 * the remote keeps 77 of 82 laws; not yet these:
 * - a file does not take the place of a submodule in a directory that was listed, unless the commit says so
 * - a file does not take the place of a submodule that was not read
 * - a difference tells modes, links and submodules
 * - a commit that merges another one has both as its parents, in their order
 * - steps from a name lead to an earlier commit, as Git's revisions do
 * Ada lives in Paris, after 2 commits
 */
import { createHash } from "node:crypto"
import {
  type Change,
  type CommitInfo,
  type CommitReads,
  GitRemote,
  type GitRemoteService,
  type Head,
  isOid,
  Oid,
  RefMoved,
  Store,
  snapshotAt,
  snapshotLater,
  snapshotOf,
  type TreeEntry,
  ValidationError
} from "chainstore/store"
import { RemoteLaws } from "chainstore/testing"
import { Clock, Console, Effect, Layer, Option, Stream } from "effect"

/** From the paths of files to their blobs. */
type Files = ReadonlyMap<string, Oid>

const idOf = (kind: string, content: Uint8Array): Oid =>
  Oid.make(createHash("sha1").update(`${kind} ${content.length}\0`).update(content).digest("hex"))

interface Commit extends CommitInfo {
  readonly files: Files
}

/** What all clients of a repository share. */
class Repository {
  readonly blobs = new Map<Oid, Uint8Array>()
  readonly trees = new Map<Oid, Files>()
  readonly commits = new Map<Oid, Commit>()
  readonly branches = new Map<string, Oid>()
  readonly tags = new Map<string, Oid>()

  /** The tree of these files, and those of the directories in it. */
  treeOf(files: Files): Oid {
    const entries = new Map<string, { readonly sort: string; readonly mode: string; readonly oid: Oid }>()
    for (const [path, oid] of files) {
      const [name = "", ...rest] = path.split("/")
      if (rest.length === 0) entries.set(name, { sort: name, mode: "100644", oid })
      else if (!entries.has(name))
        entries.set(name, { sort: `${name}/`, mode: "40000", oid: this.treeOf(below(files, name)) })
    }
    const sorted = [...entries].sort(([, a], [, b]) =>
      Buffer.compare(Buffer.from(a.sort), Buffer.from(b.sort))
    )
    const parts = sorted.map(([name, { mode, oid }]) =>
      Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(oid, "hex")])
    )
    const oid = idOf("tree", Buffer.concat(parts))
    this.trees.set(oid, files)
    return oid
  }
}

const below = (files: Files, directory: string): Files =>
  directory === ""
    ? files
    : new Map(
        [...files].flatMap(([path, oid]) =>
          path.startsWith(`${directory}/`) ? [[path.slice(directory.length + 1), oid] as const] : []
        )
      )

/** What a directory lists: all files below it, or its direct entries. */
const listed = (repository: Repository, files: Files, recursive: boolean): ReadonlyArray<TreeEntry> => {
  const entries = new Map<string, TreeEntry>()
  for (const [path, oid] of files) {
    const [name = ""] = path.split("/")
    if (recursive || name === path)
      entries.set(path, { path, mode: "100644", kind: "blob", oid, size: repository.blobs.get(oid)?.length })
    else if (!entries.has(name))
      entries.set(name, {
        path: name,
        mode: "040000",
        kind: "tree",
        oid: repository.treeOf(below(files, name))
      })
  }
  const key = ({ kind, path }: TreeEntry) => Buffer.from(kind === "tree" ? `${path}/` : path)
  return [...entries.values()].sort((a, b) => Buffer.compare(key(a), key(b)))
}

const isPath = (path: string) =>
  path.split("/").every((name) => !/^(\.{0,2}|\.git)$/i.test(name) && !name.includes("\0"))

/** The files after some changes, or what is wrong with them; a name is a file or a directory, never both. */
const changed = (repository: Repository, files: Files, changes: ReadonlyArray<Change>) => {
  const next = new Map(files)
  const blobs = new Map<string, Oid>()
  const problems: Array<string> = []
  for (const [index, change] of changes.entries()) {
    const { path } = change
    if (!isPath(path)) problems.push(`${path} is not a path`)
    if (changes.findIndex((other) => other.path === path) !== index) problems.push(`${path} is changed twice`)
    if (change._tag === "Remove") {
      if (!next.delete(path)) problems.push(`${path} is missing`)
      continue
    }
    const oid = change._tag === "Put" ? idOf("blob", change.content) : change.oid
    if (change._tag === "Put") repository.blobs.set(oid, change.content.slice())
    if (!repository.blobs.has(oid)) problems.push(`the blob of ${path} is missing`)
    next.set(path, oid)
    blobs.set(path, oid)
  }
  for (const path of next.keys())
    if (path.split("/").some((_, depth, names) => depth > 0 && next.has(names.slice(0, depth).join("/"))))
      problems.push(`${path} lies below a file`)
  return { next, blobs, problem: problems[0] }
}

/** What a remote refuses before Git would. */
const checked = (branch: string): Effect.Effect<void, ValidationError> =>
  !branch.startsWith("-") &&
  branch
    .split("/")
    .every((name) => /^(?!\.)[^\0- ~^:?*[\\\x7f]+(?<!\.|\.lock)$/.test(name) && !/\.\.|@\{/.test(name))
    ? Effect.void
    : Effect.fail(
        new ValidationError({ operation: "GitRemote", message: `${branch} is not the name of a branch` })
      )

const make = (repository: Repository): GitRemoteService => {
  const operation = "GitRemote.commit"
  const mutex = Effect.unsafeMakeSemaphore(1)
  const headOf = (oid: Oid | undefined): Option.Option<Head> =>
    Option.map(Option.fromNullable(oid && repository.commits.get(oid)), ({ commit, tree }) => ({
      commit,
      tree
    }))
  const filesAt = (at: Head | Oid): Files | undefined => {
    const oid = typeof at === "string" ? at : at.commit
    return repository.commits.get(oid)?.files ?? repository.trees.get(oid)
  }
  const moved = (branch: string, expected?: Oid) =>
    new RefMoved({
      ref: branch,
      expected: Option.fromNullable(expected),
      actual: Option.fromNullable(repository.branches.get(branch))
    })

  const reads: CommitReads = {
    resolve: (ref) =>
      Effect.sync(() => {
        const short = /^[0-9a-f]{4,40}$/.test(ref)
          ? [...repository.commits.keys()].filter((oid) => oid.startsWith(ref))
          : []
        return headOf(
          repository.branches.get(ref) ??
            repository.tags.get(ref) ??
            (short.length === 1 ? short[0] : undefined)
        )
      }),
    tree: (at, path, options) =>
      Effect.sync(() => {
        const files = filesAt(at)
        const here = files && below(files, path)
        if (here === undefined || (here.size === 0 && path !== "")) return Option.none()
        const entries = listed(repository, here, options?.recursive === true)
        return Option.some({ oid: repository.treeOf(here), entries })
      }),
    file: (at, path) =>
      Effect.sync(() => {
        const oid = filesAt(at)?.get(path)
        const content = oid && repository.blobs.get(oid)
        return oid && content ? Option.some({ path, oid, content: content.slice() }) : Option.none()
      }),
    blobs: (at, files) =>
      Stream.filterMapEffect(Stream.fromIterable(files), ({ path }) =>
        Option.some(reads.file(at, path))
      ).pipe(Stream.filterMap((found) => found))
  }

  const ancestors = (oid: Oid): ReadonlyArray<Oid> => {
    const seen = new Set<Oid>([oid])
    for (const one of seen) for (const parent of repository.commits.get(one)?.parents ?? []) seen.add(parent)
    return [...seen]
  }
  const diffOf = (before: Files, after: Files) =>
    [...new Set([...before.keys(), ...after.keys()])]
      .sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
      .filter((path) => before.get(path) !== after.get(path))
      .map((path) => ({
        path,
        before: Option.fromNullable(before.get(path)),
        after: Option.fromNullable(after.get(path))
      }))

  const head: GitRemoteService["head"] = (branch) =>
    Effect.sync(() => headOf(repository.branches.get(branch)))

  const commit: GitRemoteService["commit"] = (branch, expected, given) =>
    Effect.gen(function* () {
      yield* checked(branch)
      const date = new Date(yield* Clock.currentTimeMillis).toISOString().replace(/\.\d+/, "")
      const before = Option.getOrUndefined(expected)
      if (repository.branches.get(branch) !== before?.commit) return yield* moved(branch, before?.commit)
      const base = (before && filesAt(before)) ?? new Map()
      const { blobs, next, problem } = changed(repository, base, given.changes)
      const lost = (given.merges ?? []).find((oid) => !repository.commits.has(oid))
      const message = problem ?? (lost && `${lost} is missing`)
      if (message !== undefined) return yield* new ValidationError({ operation, message })
      const somebody = { name: "Somebody", email: "somebody@example.org" }
      const parents = [...(before ? [before.commit] : []), ...(given.merges ?? [])]
      const author = { ...(given.author ?? somebody), date }
      const committer = { ...(given.committer ?? given.author ?? somebody), date }
      const tree = repository.treeOf(next)
      const text = JSON.stringify([tree, parents, author, committer, given.message, repository.commits.size])
      const oid = idOf("commit", Buffer.from(text))
      const made = { commit: oid, tree, parents, author, committer, message: given.message, files: next }
      repository.commits.set(oid, made)
      repository.branches.set(branch, oid)
      return { commit: oid, tree, blobs }
    })

  return {
    ...reads,
    name: "example",
    head,
    commit,
    snapshot: (branch) => snapshotLater(reads, () => head(branch)),
    snapshotAt: (ref) =>
      isOid(ref) ? snapshotAt(reads, ref) : snapshotLater(reads, () => reads.resolve(ref)),
    commitNext: (branch, edit) =>
      mutex.withPermits(1)(
        Effect.gen(function* () {
          const at = yield* head(branch)
          const { commit: wanted, result } = yield* edit(snapshotOf(reads, at))
          const committed = Option.isNone(wanted)
            ? Option.none()
            : Option.some(yield* commit(branch, at, wanted.value))
          return { committed, result }
        })
      ),
    probe: (branch) =>
      Effect.sync(() => ({
        repository: repository.commits.size === 0 ? "empty" : "present",
        branch: repository.branches.has(branch),
        defaultBranch: Option.none(),
        write: Option.some(true)
      })),
    treeAfter: (at, path, changes) =>
      Effect.sync(() => {
        const { next } = changed(repository, (Option.isSome(at) && filesAt(at.value)) || new Map(), changes)
        const here = below(next, path)
        return here.size === 0 ? Option.none() : Option.some(repository.treeOf(here))
      }),
    log: (at, path, options) =>
      Stream.suspend(() => {
        const at_ = typeof at === "string" ? at : at.commit
        const under = (files: Files | undefined) => repository.treeOf(below(files ?? new Map(), path))
        const found = ancestors(at_).flatMap((oid) => repository.commits.get(oid) ?? [])
        const touching = found.filter(({ files, parents }) => {
          const [parent] = parents
          const before = parent && repository.commits.get(parent)?.files
          return path === "" || files.get(path) !== before?.get(path) || under(files) !== under(before)
        })
        return Stream.fromIterable(touching.slice(0, options?.limit))
      }),
    commitInfo: (oid) => Effect.sync(() => Option.fromNullable(repository.commits.get(oid))),
    diff: (before, after, options) =>
      Effect.sync(() => {
        const under = options?.under ?? ""
        const first = (Option.isSome(before) && filesAt(before.value)) || new Map()
        return diffOf(first, filesAt(after) ?? new Map()).filter(
          ({ path }) => under === "" || path === under || path.startsWith(`${under}/`)
        )
      }),
    isAncestor: (ancestor, descendant) => Effect.sync(() => ancestors(descendant).includes(ancestor)),
    mergeBases: (a, b) =>
      Effect.sync(() => {
        const common = ancestors(a).filter((oid) => ancestors(b).includes(oid))
        return common
          .filter((oid) => !common.some((other) => other !== oid && ancestors(other).includes(oid)))
          .sort()
      }),
    createBranch: (branch, at, options) =>
      Effect.gen(function* () {
        yield* checked(branch)
        if (!repository.commits.has(at))
          return yield* new ValidationError({ operation, message: `${at} is missing` })
        const current = repository.branches.get(branch)
        if (current !== undefined && !(options?.unique === true && current === at))
          return yield* moved(branch)
        repository.branches.set(branch, at)
      }),
    deleteBranch: (branch) => Effect.sync(() => void repository.branches.delete(branch)),
    listBranches: (prefix) =>
      Effect.sync(() =>
        [...repository.branches]
          .filter(([name]) => name.startsWith(prefix))
          .map(([name, commit]) => ({ name, commit }))
          .sort((a, b) => (a.name < b.name ? -1 : 1))
      ),
    advance: (branch, from, to) =>
      Effect.suspend(() => {
        if (repository.branches.get(branch) !== from || !ancestors(to).includes(from))
          return moved(branch, from)
        repository.branches.set(branch, to)
        return Effect.void
      }),
    budget: Effect.succeed([]),
    estimate: () => 0,
    invalidate: Effect.void
  }
}

const harness: RemoteLaws.RemoteHarness = {
  make: Effect.sync(() => {
    const repository = new Repository()
    return {
      remote: make(repository),
      another: Effect.sync(() => make(repository)),
      force: (branch, at) => Effect.sync(() => void repository.branches.set(branch, at)),
      tag: (name, at) => Effect.sync(() => void repository.tags.set(name, at))
    }
  }),
  sizes: { files: 50, largeBlob: 10_000, listing: 100, fibres: 4, interruptions: 3 }
}

const laws = Effect.gen(function* () {
  const all = RemoteLaws.laws(harness)
  const [broken] = yield* Effect.partition(all, (law) => Effect.mapError(law.check, () => law.name))
  yield* Console.log(`the remote keeps ${all.length - broken.length} of ${all.length} laws; not yet these:`)
  yield* Effect.forEach(broken, (name) => Console.log(`- ${name}`))
})

const program = Effect.gen(function* () {
  const people = (yield* Store).collection("people")
  yield* people.insert({ city: "London" }, { id: "ada" })
  const { city } = yield* people.update("ada", { city: "Paris" })
  yield* Console.log(`Ada lives in ${city}, after ${(yield* people.history("ada")).length} commits`)
})

const remote = Layer.sync(GitRemote, () => make(new Repository()))

await Effect.runPromise(laws)
await Effect.runPromise(Effect.provide(program, Layer.provide(Store.layer(), remote)))
