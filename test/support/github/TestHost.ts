import { createHash } from "node:crypto"
import type { Oid } from "../../../src/domain/Oid.js"
import { ValidationError } from "../../../src/domain/StoreError.js"
import { dateText, kindOf } from "../../../src/git/GitObject.js"
import { logOf } from "../../../src/git/memory/MemoryLog.js"
import { type MemoryCommit, MemoryRepository } from "../../../src/git/memory/MemoryRepository.js"
import { applyChanges, listTree } from "../../../src/git/memory/MemoryTree.js"
import type { Change } from "../../../src/store/remote/GitRemote.js"

export interface HostRequest {
  readonly method: string
  /** Decoded, below the API's address. */
  readonly pathname: string
  readonly query: URLSearchParams
  readonly headers: { readonly [name: string]: string | undefined }
  readonly body: string
}

export interface HostReply {
  readonly status: number
  readonly headers?: { readonly [name: string]: string } | undefined
  readonly body?: unknown
}

export interface HostOptions {
  readonly owner?: string | undefined
  readonly name?: string | undefined
  readonly token?: string | undefined
  /** Where a listing is cut. Default 100,000 entries. */
  readonly treeLimit?: number | undefined
  /** The raw address, which nobody gives a token to, denies every file then. */
  readonly private?: boolean | undefined
  /** What a branch's answer tells of its commit. Default everything. */
  readonly branchCommit?: "id" | "nothing" | undefined
}

const problem = (status: number, message: string, more: object = {}): HostReply => ({
  status,
  body: { message, documentation_url: "https://docs.github.com/rest", status: String(status), ...more }
})

const wrapped = (bytes: Uint8Array) => {
  const text = Buffer.from(bytes).toString("base64")
  return text === "" ? "" : `${text.match(/.{1,60}/g)?.join("\n")}\n`
}

const zeros = "0".repeat(40)

interface Person {
  readonly name: string
  readonly email: string
}

const nobody: Person = { name: "Octo Cat", email: "octocat@example.org" }

const isoPerson = (person: MemoryCommit["author"]) => ({
  name: person.name,
  email: person.email,
  date: dateText(person.seconds)
})

/**
 * As much of GitHub as a store asks of it, in memory: the quirks that break naive clients are there, everything
 * else is left out. Not a server: `TestServer` puts it on a socket.
 */
export class TestHost {
  readonly #truth = new MemoryRepository("test-host")
  #serving: MemoryRepository | undefined
  /** A machine behind the others, which has not heard of later objects and answers every read while it is here. */
  replica: MemoryRepository | undefined
  readonly full: string
  /** The repository's global id. */
  id = "R_test"
  readonly #options: HostOptions
  #clock = 1_700_000_000
  #stopped = false
  /** What replicas still say of branches, while they lag. */
  stale: ReadonlyMap<string, Oid> | undefined

  constructor(options: HostOptions = {}) {
    this.#options = options
    this.full = `${options.owner ?? "octo"}/${options.name ?? "store"}`
  }

  get repository(): MemoryRepository {
    return this.#serving ?? this.#truth
  }

  /** The repository as it is now, for a replica to fall behind with. */
  snapshot(): MemoryRepository {
    const copy = new MemoryRepository("replica")
    for (const [oid, blob] of this.#truth.blobs) copy.blobs.set(oid, blob)
    for (const [oid, tree] of this.#truth.trees) copy.trees.set(oid, tree)
    for (const [oid, commit] of this.#truth.commits) copy.commits.set(oid, commit)
    for (const [name, oid] of this.#truth.refs) copy.refs.set(name, oid)
    return copy
  }

  /** Answers a read, by the replica where there is one. */
  reading<A>(answer: () => A): A {
    this.#serving = this.replica
    try {
      return answer()
    } finally {
      this.#serving = undefined
    }
  }

  /** Every commit from now on is of the same second. */
  stopClock() {
    this.#stopped = true
  }

  get empty() {
    return this.repository.refs.size === 0
  }

  branch(name: string, fresh = false): MemoryCommit | undefined {
    const refs = !fresh && this.stale !== undefined ? this.stale : this.repository.refs
    const oid = refs.get(`refs/heads/${name}`)
    return oid === undefined ? undefined : this.repository.commits.get(oid)
  }

  /** A commit made by somebody else. */
  commit(
    branch: string,
    changes: ReadonlyArray<Change>,
    message = "by another hand",
    options: { readonly author?: Person; readonly committer?: Person } = {}
  ): MemoryCommit | ValidationError {
    const parent = this.branch(branch, true)
    const tree = this.#tree(parent?.tree, changes)
    if (tree instanceof ValidationError) return tree
    const made = this.#commit(tree, parent === undefined ? [] : [parent.oid], message, options)
    this.repository.refs.set(`refs/heads/${branch}`, made.oid)
    return made
  }

  handle(request: HostRequest): HostReply {
    const { token } = this.#options
    const given = request.headers["authorization"]
    if (token !== undefined && given !== `Bearer ${token}`) {
      return problem(401, given === undefined ? "Requires authentication" : "Bad credentials")
    }
    const reply = request.method === "GET" ? this.reading(() => this.#route(request)) : this.#route(request)
    if (request.method !== "GET" || reply.status !== 200) return reply
    const etag = `"${createHash("sha256")
      .update(
        `${request.headers["accept"]}${reply.body instanceof Uint8Array ? "" : JSON.stringify(reply.body)}`
      )
      .update(reply.body instanceof Uint8Array ? reply.body : "")
      .digest("hex")
      .slice(0, 32)}"`
    const asked = request.headers["if-none-match"]?.replace(/^W\//, "")
    return asked === etag
      ? { status: 304, headers: { ...reply.headers, etag } }
      : { ...reply, headers: { ...reply.headers, etag } }
  }

  raw(pathname: string, validator: string | undefined): HostReply {
    const [owner, name, ref = "", ...path] = pathname.slice(1).split("/")
    const commit = this.resolve(ref)
    if (`${owner}/${name}` !== this.full || commit === undefined || this.#options.private === true)
      return { status: 404, body: "404: Not Found" }
    const entry = this.repository.lookup(commit.tree, path.join("/"))
    const content = entry === undefined ? undefined : this.repository.blobs.get(entry.oid)
    if (content === undefined) return { status: 404, body: "404: Not Found" }
    const headers = { etag: `"${entry!.oid}"`, "content-type": "text/plain" }
    return validator === headers.etag ? { status: 304, headers } : { status: 200, headers, body: content }
  }

  resolve(name: string): MemoryCommit | undefined {
    return this.branch(name) ?? this.repository.resolve(name)
  }

  #tree(base: Oid | undefined, changes: ReadonlyArray<Change>): Oid | ValidationError {
    return applyChanges(
      this.repository,
      base,
      changes,
      (tree) => this.repository.writeTree(tree),
      (content) => this.repository.writeBlob(content)
    )
  }

  #commit(
    tree: Oid,
    parents: ReadonlyArray<Oid>,
    message: string,
    people: { readonly author?: Person | undefined; readonly committer?: Person | undefined }
  ): MemoryCommit {
    if (!this.#stopped) this.#clock++
    const author = people.author ?? people.committer ?? nobody
    const stamp = ({ email, name }: Person) => ({ name, email, seconds: this.#clock, offset: 0 })
    return this.repository.writeCommit({
      tree,
      parents,
      author: stamp(author),
      committer: stamp(people.committer ?? author),
      message
    })
  }

  /** `createCommitOnBranch`, with what GitHub says when it refuses. */
  commitOnBranch(input: {
    readonly branch: { readonly branchName?: string | null }
    readonly expectedHeadOid: string
    readonly message: { readonly headline: string; readonly body?: string | null }
    readonly fileChanges?: {
      readonly additions?: ReadonlyArray<{ readonly path: string; readonly contents: string }> | null
      readonly deletions?: ReadonlyArray<{ readonly path: string }> | null
    } | null
  }): MemoryCommit | { readonly type: string; readonly message: string } {
    const name = input.branch.branchName ?? ""
    const head = this.branch(name, true)
    if (head === undefined) return { type: "NOT_FOUND", message: `Branch ${name} was not found` }
    if (head.oid !== input.expectedHeadOid) {
      return {
        type: "STALE_DATA",
        message: `Expected branch to point to "${input.expectedHeadOid}" but it did not.  Pull and try again.`
      }
    }
    const changes: ReadonlyArray<Change> = [
      ...(input.fileChanges?.additions ?? []).map((file) => ({
        _tag: "Put" as const,
        path: file.path,
        content: new Uint8Array(Buffer.from(file.contents, "base64"))
      })),
      ...(input.fileChanges?.deletions ?? []).map(({ path }) => ({ _tag: "Remove" as const, path }))
    ]
    const body = input.message.body ?? ""
    const made = this.commit(name, changes, `${input.message.headline}${body === "" ? "" : `\n\n${body}`}`)
    return made instanceof ValidationError
      ? {
          type: "UNPROCESSABLE",
          message: /no such file/.test(made.message)
            ? `A path was requested for deletion which does not exist as of commit oid ${head.oid}`
            : made.message
        }
      : made
  }

  /** `updateRefs`: all or none, each from where it is said to be. */
  updateRefs(input: {
    readonly repositoryId: string
    readonly refUpdates: ReadonlyArray<{
      readonly name: string
      readonly beforeOid?: string | null
      readonly afterOid: string
      readonly force?: boolean | null
    }>
  }): { readonly type: string; readonly message: string } | undefined {
    const { repository } = this
    if (input.repositoryId !== this.id) {
      return { type: "NOT_FOUND", message: "Could not resolve to a node with the global id" }
    }
    for (const { afterOid, beforeOid, force, name } of input.refUpdates) {
      const at = repository.refs.get(name) ?? zeros
      if (beforeOid && beforeOid !== at) {
        return { type: "STALE_DATA", message: `Expected ${name} to point to "${beforeOid}" but it did not.` }
      }
      if (afterOid === zeros) continue
      const commit = repository.commits.get(afterOid as Oid)
      if (commit === undefined) return { type: "UNPROCESSABLE", message: `${afterOid} does not exist` }
      if (at !== zeros && force !== true && !repository.isAncestor(at as Oid, commit.oid)) {
        return { type: "UNPROCESSABLE", message: `Update of ${name} is not a fast forward` }
      }
    }
    for (const { afterOid, name } of input.refUpdates) {
      if (afterOid === zeros) repository.refs.delete(name)
      else repository.refs.set(name, afterOid as Oid)
    }
    return undefined
  }

  #commitView(commit: MemoryCommit) {
    return {
      sha: commit.oid,
      html_url: `https://example.org/${this.full}/commit/${commit.oid}`,
      parents: commit.parents.map((sha) => ({ sha })),
      commit: {
        message: commit.message,
        tree: { sha: commit.tree },
        author: isoPerson(commit.author),
        committer: isoPerson(commit.committer)
      }
    }
  }

  #branchCommit(commit: MemoryCommit) {
    const { branchCommit } = this.#options
    if (branchCommit === undefined) return { commit: this.#commitView(commit) }
    return branchCommit === "id" ? { commit: { sha: commit.oid, url: "" } } : {}
  }

  #gitCommit(commit: MemoryCommit) {
    const { commit: view, ...rest } = this.#commitView(commit)
    return { ...rest, ...view }
  }

  #route(request: HostRequest): HostReply {
    const { method, pathname } = request
    if (method === "GET" && pathname === "/rate_limit") {
      const rate = { limit: 5000, remaining: 4999, used: 1, reset: 1_900_000_000 }
      return { status: 200, body: { resources: { core: rate, graphql: rate }, rate } }
    }
    const base = `/repos/${this.full}`
    if (pathname !== base && !pathname.startsWith(`${base}/`)) return problem(404, "Not Found")
    const rest = pathname.slice(base.length)
    const match = (prefix: string) =>
      rest.startsWith(prefix) ? rest.slice(prefix.length) : rest === prefix.slice(0, -1) ? "" : undefined
    const body = (): Record<string, unknown> => JSON.parse(request.body)
    if (rest === "") {
      return {
        status: 200,
        body: { full_name: this.full, default_branch: "main", permissions: { push: true, pull: true } }
      }
    }
    const contents = match("/contents/")
    if (contents !== undefined) {
      if (method === "GET") return this.#getContents(contents, request)
      return this.#writeContents(method, contents, body())
    }
    if (this.empty && !rest.startsWith("/branches")) return problem(409, "Git Repository is empty.")
    const branch = match("/branches/")
    if (branch !== undefined) {
      const commit = this.branch(branch)
      return commit === undefined
        ? problem(404, "Branch not found")
        : { status: 200, body: { name: branch, ...this.#branchCommit(commit) } }
    }
    if (rest === "/commits") return this.#log(request.query)
    const ref = match("/commits/")
    if (ref !== undefined) {
      const commit = this.resolve(ref)
      return commit === undefined
        ? problem(422, `No commit found for SHA: ${ref}`)
        : { status: 200, body: { ...this.#commitView(commit), files: [] } }
    }
    const range = match("/compare/")
    if (range !== undefined) return this.#compare(range)
    return this.#gitData(method, rest, request, body)
  }

  #getContents(path: string, request: HostRequest): HostReply {
    const ref = request.query.get("ref") ?? "main"
    if (this.empty) return problem(404, "This repository is empty.")
    const commit = this.resolve(ref)
    if (commit === undefined) return problem(404, `No commit found for the ref ${ref}`)
    const entry = this.repository.lookup(commit.tree, path)
    if (entry === undefined) return problem(404, "Not Found")
    if (entry.mode === "040000") {
      const entries = listTree(this.repository, entry.oid, false).slice(0, 1000)
      return {
        status: 200,
        body: entries.map((found) => ({
          type: found.kind === "tree" ? "dir" : "file",
          name: found.path,
          path: path === "" ? found.path : `${path}/${found.path}`,
          sha: found.oid,
          size: found.size ?? 0
        }))
      }
    }
    const content = this.repository.blobs.get(entry.oid)!
    const small = content.length <= 1_000_000
    return {
      status: 200,
      body: {
        type: "file",
        name: path.split("/").at(-1),
        path,
        sha: entry.oid,
        size: content.length,
        encoding: small ? "base64" : "none",
        content: small ? wrapped(content) : ""
      }
    }
  }

  #writeContents(method: string, path: string, body: Record<string, unknown>): HostReply {
    const name = typeof body["branch"] === "string" ? body["branch"] : "main"
    const head = this.branch(name, true)
    if (head === undefined && !this.empty) return problem(404, `Branch ${name} not found`)
    const entry = head === undefined ? undefined : this.repository.lookup(head.tree, path)
    const sha = body["sha"]
    if (body["message"] === undefined) return problem(422, `Invalid request.\n\n"message" wasn't supplied.`)
    if (method === "DELETE" && entry === undefined) return problem(404, "Not Found")
    if (entry !== undefined && sha === undefined) {
      return problem(422, `Invalid request.\n\n"sha" wasn't supplied.`)
    }
    if (entry !== undefined && entry.oid !== sha) return problem(409, `${path} does not match ${sha}`)
    const change: Change =
      method === "DELETE"
        ? { _tag: "Remove", path }
        : { _tag: "Put", path, content: new Uint8Array(Buffer.from(String(body["content"]), "base64")) }
    const made = this.commit(name, [change], String(body["message"]), body)
    if (made instanceof ValidationError) return problem(422, made.message)
    const blob = this.repository.lookup(made.tree, path)
    return {
      status: method === "DELETE" || entry !== undefined ? 200 : 201,
      body: {
        content: method === "DELETE" ? null : { name: path.split("/").at(-1), path, sha: blob?.oid },
        commit: this.#gitCommit(made)
      }
    }
  }

  #log(query: URLSearchParams): HostReply {
    const from = this.resolve(query.get("sha") ?? "main")
    if (from === undefined) return problem(404, "Not Found")
    const size = Number(query.get("per_page") ?? 30)
    const page = Number(query.get("page") ?? 1)
    const all = [...logOf(this.repository, from, query.get("path") ?? "")]
    const next = all.length > page * size
    return {
      status: 200,
      headers: next ? { link: `<https://elsewhere.example/next>; rel="next"` } : {},
      body: all.slice((page - 1) * size, page * size).map((commit) => this.#commitView(commit))
    }
  }

  #compare(range: string): HostReply {
    const [base, head] = range.split("...").map((name) => this.resolve(name))
    if (base === undefined || head === undefined) return problem(404, "Not Found")
    const ahead = this.repository.isAncestor(base.oid, head.oid)
    const behind = this.repository.isAncestor(head.oid, base.oid)
    const commits = [...logOf(this.repository, head, "")]
      .filter((commit) => !this.repository.isAncestor(commit.oid, base.oid))
      .reverse()
    const mergeBase = [...logOf(this.repository, base, "")].find((commit) =>
      this.repository.isAncestor(commit.oid, head.oid)
    )
    return {
      status: 200,
      body: {
        status: ahead && behind ? "identical" : ahead ? "ahead" : behind ? "behind" : "diverged",
        total_commits: commits.length,
        ...(mergeBase === undefined ? {} : { merge_base_commit: this.#commitView(mergeBase) }),
        commits: commits.slice(0, 250).map((commit) => this.#commitView(commit))
      }
    }
  }

  #gitData(
    method: string,
    rest: string,
    request: HostRequest,
    body: () => Record<string, unknown>
  ): HostReply {
    const [, , kind, ...tail] = rest.split("/")
    const name = tail.join("/")
    const { repository } = this
    if (kind === "blobs" && method === "POST") {
      const { content, encoding } = body()
      const bytes = Buffer.from(String(content), encoding === "base64" ? "base64" : "utf8")
      return { status: 201, body: { sha: repository.writeBlob(new Uint8Array(bytes)), url: "" } }
    }
    if (kind === "blobs") {
      const bytes = repository.blobs.get(name as Oid)
      if (bytes === undefined) return problem(404, "Not Found")
      return /raw/.test(request.headers["accept"] ?? "")
        ? { status: 200, headers: { "content-type": "application/vnd.github.raw+json" }, body: bytes }
        : {
            status: 200,
            body: { sha: name, content: wrapped(bytes), encoding: "base64", size: bytes.length }
          }
    }
    if (kind === "trees" && method === "POST") return this.#createTree(body())
    if (kind === "trees") return this.#getTree(name, request.query.has("recursive"))
    if (kind === "commits" && method === "POST") {
      const input = body() as {
        readonly tree: Oid
        readonly parents?: ReadonlyArray<Oid>
        readonly message: string
        readonly author?: Person
        readonly committer?: Person
      }
      if (!repository.trees.has(input.tree)) return problem(422, "Tree SHA does not exist")
      return {
        status: 201,
        body: this.#gitCommit(this.#commit(input.tree, input.parents ?? [], input.message, input))
      }
    }
    if (kind === "commits") {
      const commit = repository.commits.get(name as Oid)
      return commit === undefined ? problem(404, "Not Found") : { status: 200, body: this.#gitCommit(commit) }
    }
    return this.#refs(method, kind ?? "", name, body)
  }

  #createTree(body: Record<string, unknown>): HostReply {
    const entries = body["tree"] as ReadonlyArray<{
      readonly path: string
      readonly sha?: Oid | null
      readonly content?: string
    }>
    if (!Array.isArray(entries) || entries.length === 0) return problem(422, "Invalid tree info")
    const base = body["base_tree"] as Oid | undefined
    const root = base === undefined ? undefined : this.repository.rootOf(base)
    if (base !== undefined && root === undefined) return problem(422, "base_tree is not a valid tree")
    const missing = entries.find(
      (entry) => typeof entry.sha === "string" && !this.repository.blobs.has(entry.sha)
    )
    if (missing !== undefined) return problem(422, `tree.sha ${missing.sha} is not a valid blob`)
    const made = this.#tree(
      root,
      entries.map(
        ({ content, path, sha }): Change =>
          content !== undefined
            ? { _tag: "Put", path, content: new TextEncoder().encode(content) }
            : typeof sha === "string"
              ? { _tag: "Link", path, oid: sha as Oid }
              : { _tag: "Remove", path }
      )
    )
    if (made instanceof ValidationError) {
      return problem(422, /no such file/.test(made.message) ? "GitRPC::BadObjectState" : made.message)
    }
    return { status: 201, body: { sha: made, url: "", tree: [] } }
  }

  #getTree(name: string, recursive: boolean): HostReply {
    const colon = name.indexOf(":")
    const revision = colon < 0 ? name : name.slice(0, colon)
    const root = this.repository.rootOf(revision as Oid) ?? this.resolve(revision)?.tree
    const entry =
      root === undefined ? undefined : this.repository.lookup(root, colon < 0 ? "" : name.slice(colon + 1))
    if (entry?.mode !== "040000") return problem(404, "Not Found")
    const all: Array<object> = []
    const walk = (tree: Oid, prefix: string) => {
      for (const [path, found] of this.repository.trees.get(tree) ?? []) {
        const kind = kindOf(found.mode)
        const size = kind === "blob" ? this.repository.blobs.get(found.oid)?.length : undefined
        all.push({ path: prefix + path, mode: found.mode, type: kind, sha: found.oid, size, url: "" })
        if (recursive && kind === "tree") walk(found.oid, `${prefix}${path}/`)
      }
    }
    walk(entry.oid, "")
    const limit = recursive ? (this.#options.treeLimit ?? 100_000) : 100_000
    return {
      status: 200,
      body: { sha: entry.oid, url: "", truncated: all.length > limit, tree: all.slice(0, limit) }
    }
  }

  #refs(method: string, kind: string, name: string, body: () => Record<string, unknown>): HostReply {
    const { refs } = this.repository
    const view = (ref: string, sha: Oid) => ({ ref, url: "", object: { type: "commit", sha, url: "" } })
    const full = `refs/${name}`
    if (kind === "ref" && method === "GET") {
      const sha = (this.stale ?? refs).get(full)
      return sha === undefined ? problem(404, "Not Found") : { status: 200, body: view(full, sha) }
    }
    if (kind === "matching-refs") {
      const found = [...refs].filter(([ref]) => ref.startsWith(full)).sort(([a], [b]) => (a < b ? -1 : 1))
      return { status: 200, body: found.map(([ref, sha]) => view(ref, sha)) }
    }
    if (kind !== "refs") return problem(404, "Not Found")
    if (method === "POST") {
      const { ref, sha } = body() as { readonly ref: string; readonly sha: Oid }
      if (refs.has(ref)) return problem(422, "Reference already exists")
      if (!this.repository.commits.has(sha)) return problem(422, "Object does not exist")
      refs.set(ref, sha)
      return { status: 201, body: view(ref, sha) }
    }
    const at = refs.get(full)
    if (at === undefined) return problem(422, "Reference does not exist")
    if (method === "DELETE") {
      refs.delete(full)
      return { status: 204 }
    }
    const { force, sha } = body() as { readonly sha: Oid; readonly force?: boolean }
    if (!this.repository.commits.has(sha)) return problem(422, "Object does not exist")
    if (force !== true && !this.repository.isAncestor(at, sha))
      return problem(422, "Update is not a fast forward")
    refs.set(full, sha)
    return { status: 200, body: view(full, sha) }
  }
}
