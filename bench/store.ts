import { spawn } from "node:child_process"
import * as fs from "node:fs"
import { Effect, Layer, Stream } from "effect"
import isomorphic from "isomorphic-git"
import { plainLayout } from "../src/domain/settings/Settings.js"
import { documentPath } from "../src/store/DocumentPath.js"
import * as LocalGit from "../src/store/remote/local/LocalGit.js"
import { Store } from "../src/store/Store.js"
import type { StoreOptions } from "../src/store/StoreOptions.js"
import { type Comparison, compare, machine, report } from "./support/compare.js"
import { bytesOf, documentOf, fastCommit, fastImport, freshPlace, git, idOf } from "./support/repositories.js"

const rounds = Number(process.env["BENCH_ROUNDS"] ?? 3)
const peer = "git fast-import, no checkpoint"
const sharded: StoreOptions = { shardBy: "hash", shardDepth: 1, shardWidth: 2 }
const layout = { ...plainLayout, shardBy: "hash", shardDepth: 1 } as const

const pathOf = (n: number) => documentPath("data", layout, "users", idOf(n))
const bodyOf = (n: number) =>
  JSON.parse(documentOf(idOf(n), 1).toString()) as { readonly [key: string]: string }

const change = (n: number) => ({ _tag: "Put" as const, path: pathOf(n), content: documentOf(idOf(n), 1) })

/** Runs a program on a store in the bare repository `<place>/local/store.git`. */
const withStore = <A>(
  place: string,
  options: StoreOptions,
  durability: "fsync" | "none",
  body: (store: Store["Type"]) => Effect.Effect<A, unknown>
): Promise<A> =>
  Effect.runPromise(
    Effect.flatMap(Store, body).pipe(
      Effect.provide(
        Layer.provide(
          Store.layer(options),
          LocalGit.layer({ directory: place, durability, maintenance: false })
        )
      )
    )
  )

const gitOf = (place: string) => `${place}/local/store.git`

const templates = new Map<string, string>()

/** A copy of a repository with so many documents, made by the store in one commit. */
const seeded = async (count: number, options: StoreOptions) => {
  const key = JSON.stringify([count, options])
  let template = templates.get(key)
  if (template === undefined) {
    template = freshPlace()
    templates.set(key, template)
    await withStore(template, options, "none", (store) =>
      store.batch({}, (batch) =>
        Effect.forEach(
          Array.from({ length: count }, (_, n) => n),
          (n) => batch.put("users", idOf(n), bodyOf(n)),
          { discard: true }
        )
      )
    )
  }
  const place = freshPlace()
  fs.cpSync(template, place, { recursive: true })
  return place
}

const timed = async (work: () => Promise<unknown>) => {
  const started = performance.now()
  await work()
  return performance.now() - started
}

const inserts = (
  place: string,
  options: StoreOptions,
  count: number,
  writers: number,
  durability: "fsync" | "none"
) =>
  withStore(place, options, durability, (store) => {
    const users = store.collection("users")
    let next = 1_000_000
    const last = next + count
    const writer = Effect.gen(function* () {
      while (next < last) {
        const n = next++
        yield* users.insert(bodyOf(n), { id: idOf(n) })
      }
    })
    return Effect.map(
      Effect.flatMap(
        Effect.zipRight(
          users.count,
          Effect.sync(() => performance.now())
        ),
        (started) =>
          Effect.as(
            Effect.all(
              Array.from({ length: writers }, () => writer),
              { concurrency: "unbounded" }
            ),
            started
          )
      ),
      (started) => ((performance.now() - started) * 1000) / count
    )
  })

const singles: Comparison = {
  title: "one document, one commit: 10,000 documents, hash-sharded",
  peer,
  unit: "µs/commit",
  rounds,
  variants: [
    {
      name: peer,
      measure: async () => {
        const place = await seeded(10_000, sharded)
        const millis = await timed(() =>
          fastImport(gitOf(place), (write) => {
            for (let n = 1_000_000; n < 1_001_000; n++) {
              write(fastCommit(`insert users/${idOf(n)}`, [change(n)], n === 1_000_000))
            }
          })
        )
        return millis
      }
    },
    ...(["fsync", "none"] as const).map((durability) => ({
      name: `Collection.insert, ${durability === "fsync" ? "fsync" : "no fsync"}`,
      measure: async () => inserts(await seeded(10_000, sharded), {}, 1_000, 1, durability)
    })),
    {
      name: "Collection.insert, 64 at once, fsync",
      measure: async () => inserts(await seeded(10_000, sharded), {}, 4_000, 64, "fsync")
    },
    {
      name: "isomorphic-git (100 commits)",
      measure: async () => {
        const gitdir = gitOf(await seeded(10_000, sharded))
        return ((await timed(() => isomorphicInserts(gitdir, 100))) * 1000) / 100
      }
    }
  ]
}

/** The same commits by isomorphic-git's own plumbing, trees cached in its object cache. */
const isomorphicInserts = async (gitdir: string, count: number) => {
  const cache = {}
  const author = { name: "A", email: "a@b", timestamp: 1_700_000_000, timezoneOffset: 0 }
  const put = async (tree: string, path: ReadonlyArray<string>, oid: string): Promise<string> => {
    const [name, ...rest] = path as [string, ...Array<string>]
    const { tree: entries } = await isomorphic.readTree({ fs, gitdir, oid: tree, cache })
    const before = entries.find((entry) => entry.path === name)
    const entry =
      rest.length === 0
        ? { mode: "100644", path: name, oid, type: "blob" as const }
        : { mode: "040000", path: name, oid: await put(before!.oid, rest, oid), type: "tree" as const }
    return isomorphic.writeTree({ fs, gitdir, tree: [...entries.filter((each) => each !== before), entry] })
  }
  for (let n = 1_000_000; n < 1_000_000 + count; n++) {
    const parent = await isomorphic.resolveRef({ fs, gitdir, ref: "refs/heads/main" })
    const { commit } = await isomorphic.readCommit({ fs, gitdir, oid: parent, cache })
    const oid = await isomorphic.writeBlob({ fs, gitdir, blob: documentOf(idOf(n), 1) })
    const tree = await put(commit.tree, pathOf(n).split("/"), oid)
    await isomorphic.commit({
      fs,
      gitdir,
      tree,
      parent: [parent],
      ref: "refs/heads/main",
      message: `insert users/${idOf(n)}`,
      author,
      committer: author,
      cache
    })
  }
}

const catFileAll = (directory: string, oids: ReadonlyArray<string>) =>
  new Promise<void>((resolve, reject) => {
    const child = spawn("git", ["-C", directory, "cat-file", "--batch", "--buffer"], {
      stdio: ["pipe", "pipe", "inherit"]
    })
    const chunks: Array<Buffer> = []
    child.stdout.on("data", (bytes: Buffer) => chunks.push(bytes))
    child.on("error", reject)
    child.on("close", () => {
      const all = Buffer.concat(chunks)
      for (let at = 0; at < all.length; ) {
        const end = all.indexOf(10, at)
        const size = Number(all.toString("latin1", at, end).split(" ")[2])
        JSON.parse(all.toString("utf8", end + 1, end + 1 + size))
        at = end + size + 2
      }
      resolve()
    })
    child.stdin.end(`${oids.join("\n")}\n`)
  })

const reads: Comparison = {
  title: "read and parse 10,000 documents, hash-sharded",
  peer: "piped git cat-file --batch and JSON.parse",
  unit: "ms",
  rounds: rounds * 2 + 1,
  variants: [
    {
      name: "piped git cat-file --batch and JSON.parse",
      measure: async () => {
        const place = await seeded(10_000, sharded)
        const oids = git(gitOf(place), "ls-tree", "-r", "main", "data/users")
          .toString()
          .split("\n")
          .flatMap((line) => (line === "" ? [] : [line.slice(12, 52)]))
        return timed(() => catFileAll(gitOf(place), oids))
      }
    },
    {
      name: "Collection.all",
      measure: async () =>
        withStore(await seeded(10_000, sharded), {}, "none", (store) =>
          Effect.gen(function* () {
            const users = store.collection("users")
            yield* users.count
            const started = performance.now()
            yield* Stream.runDrain(users.all())
            return performance.now() - started
          })
        )
    }
  ]
}

const curve = async () => {
  const lines = ["| documents | layout | µs/insert | bytes written per insert |", "| --- | --- | --- | --- |"]
  const flat: StoreOptions = {}
  const both: StoreOptions = { ...sharded, indexes: { users: ["email"] }, manifests: ["users"] }
  for (const count of [1_000, 10_000, 100_000]) {
    for (const [name, options] of [
      ["plain", flat],
      ["hash-sharded", sharded],
      ["hash-sharded, index and manifest", both]
    ] as const) {
      const place = await seeded(count, options)
      const before = bytesOf(gitOf(place))
      const commits = count === 100_000 ? 10 : 50
      const micros = await inserts(place, {}, commits, 1, "fsync")
      const bytes = (bytesOf(gitOf(place)) - before) / commits
      lines.push(`| ${count} | ${name} | ${micros.toFixed(0)} | ${bytes.toFixed(0)} |`)
      fs.rmSync(place, { recursive: true, force: true })
    }
  }
  return lines.join("\n")
}

const heap = async () => {
  const place = await seeded(100_000, sharded)
  return withStore(place, {}, "none", (store) =>
    Effect.gen(function* () {
      const users = store.collection("users")
      yield* users.count
      globalThis.gc?.()
      const before = process.memoryUsage().heapUsed
      let most = 0
      let seen = 0
      yield* Stream.runForEach(users.all(), () =>
        Effect.sync(() => {
          if (++seen % 5_000 !== 0) return
          globalThis.gc?.()
          most = Math.max(most, process.memoryUsage().heapUsed - before)
        })
      )
      const how = globalThis.gc === undefined ? "with garbage" : "after collection"
      return `streaming ${seen} documents: ${(most / 1e6).toFixed(1)} MB of heap above the listing, ${how}`
    })
  )
}

report("Document store", [await compare(singles), await compare(reads)])
process.stdout.write(
  `\n${machine()}\n\nInsert with fsync, by size of the collection:\n\n${await curve()}\n\n${await heap()}\n`
)
