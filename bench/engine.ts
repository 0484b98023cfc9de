import { spawn } from "node:child_process"
import * as path from "node:path"
import { Effect, Option, Stream } from "effect"
import type { Oid } from "../src/domain/identifiers/Oid.js"
import { type Comparison, compare, machine, report } from "./support/compare.js"
import {
  bytesOf,
  CatFileDaemon,
  changesOf,
  commit,
  fastCommit,
  fastImport,
  freshPlace,
  git,
  idOf,
  type Layout,
  open,
  pathOf,
  seeded
} from "./support/repositories.js"

const rounds = Number(process.env["BENCH_ROUNDS"] ?? 3)
const peer = "git fast-import, no checkpoint"

const timed = async (work: () => Promise<unknown>) => {
  const started = performance.now()
  await work()
  return performance.now() - started
}

const perCommit =
  (writers: number, commits: number, durability: "fsync" | "none", layout: Layout = "sharded") =>
  async () => {
    const { close, repository } = await open({ directory: seeded(layout, 10_000), durability })
    let next = 10_000
    const last = 10_000 + commits
    const writer = Effect.gen(function* () {
      while (next < last) {
        const n = next++
        yield* commit(repository, `insert ${n}`, changesOf(layout, n, 1))
      }
    })
    const millis = await timed(() =>
      Effect.runPromise(
        Effect.all(
          Array.from({ length: writers }, () => writer),
          { concurrency: "unbounded" }
        )
      )
    )
    await close()
    return (millis * 1000) / commits
  }

const singles: Comparison = {
  title: "1,000 single-document commits, 10,000 documents, sharded",
  peer,
  unit: "µs/commit",
  rounds,
  variants: [
    {
      name: peer,
      measure: async () => {
        const directory = seeded("sharded", 10_000)
        const millis = await timed(() =>
          fastImport(directory, (write) => {
            for (let n = 10_000; n < 11_000; n++) {
              write(fastCommit(`insert ${n}`, changesOf("sharded", n, 1), n === 10_000))
            }
          })
        )
        return millis
      }
    },
    { name: "engine, fsync", measure: perCommit(1, 1_000, "fsync") },
    { name: "engine, no fsync", measure: perCommit(1, 1_000, "none") }
  ]
}

const writers: Comparison = {
  title: "own-commit inserts with fsync, 10,000 documents, sharded",
  peer: "1 writer",
  unit: "µs/commit",
  rounds,
  variants: [
    { name: "1 writer", measure: perCommit(1, 500, "fsync") },
    { name: "8 writers", measure: perCommit(8, 1_000, "fsync") },
    { name: "64 writers", measure: perCommit(64, 4_000, "fsync") }
  ]
}

const bulk: Comparison = {
  title: "one commit of 10,000 documents",
  peer,
  unit: "ms",
  rounds,
  variants: [
    {
      name: peer,
      measure: () => {
        const directory = freshPlace()
        git("/", "init", "-q", "--bare", directory)
        return timed(() =>
          fastImport(directory, (write) => write(fastCommit("bulk", changesOf("flat", 0, 10_000), false)))
        )
      }
    },
    ...(["fsync", "none"] as const).map((durability) => ({
      name: `engine, ${durability}`,
      measure: async () => {
        const { close, repository } = await open({ directory: freshPlace(), durability })
        const millis = await timed(() =>
          Effect.runPromise(commit(repository, "bulk", changesOf("flat", 0, 10_000)))
        )
        await close()
        return millis
      }
    }))
  ]
}

const oidsOf = (directory: string) =>
  git(directory, "ls-tree", "-r", "main")
    .toString()
    .split("\n")
    .flatMap((line) => (line === "" ? [] : [line.slice(12, 52) as Oid]))

/** Parses every document of a piped `git cat-file --batch --buffer`. */
const catFileAll = (directory: string, oids: ReadonlyArray<string>) =>
  new Promise<number>((resolve, reject) => {
    const child = spawn("git", ["-C", directory, "cat-file", "--batch", "--buffer"], {
      stdio: ["pipe", "pipe", "inherit"]
    })
    const chunks: Array<Buffer> = []
    let documents = 0
    child.stdout.on("data", (bytes: Buffer) => chunks.push(bytes))
    child.on("error", reject)
    child.on("close", () => {
      const all = Buffer.concat(chunks)
      for (let at = 0; at < all.length; ) {
        const end = all.indexOf(10, at)
        const size = Number(all.toString("latin1", at, end).split(" ")[2])
        JSON.parse(all.toString("utf8", end + 1, end + 1 + size))
        documents++
        at = end + size + 2
      }
      resolve(documents)
    })
    child.stdin.end(`${oids.join("\n")}\n`)
  })

const reading = (collected: boolean): Comparison => {
  const directory = seeded("sharded", 10_000, collected)
  const oids = oidsOf(directory)
  const decoder = new TextDecoder()
  return {
    title: `read and parse 10,000 documents, ${collected ? "after gc (deltas)" : "one pack"}`,
    peer: "git cat-file --batch --buffer, piped",
    unit: "ms",
    rounds: rounds * 2,
    variants: [
      {
        name: "git cat-file --batch --buffer, piped",
        measure: () => timed(() => catFileAll(directory, oids))
      },
      {
        name: "engine, opened anew",
        measure: async () => {
          const { close, repository } = await open({ directory })
          const millis = await timed(() =>
            Effect.runPromise(
              Stream.runForEachChunk(repository.blobs(oids), (chunk) =>
                Effect.sync(() => {
                  for (const { content } of chunk) JSON.parse(decoder.decode(content))
                })
              )
            )
          )
          await close()
          return millis
        }
      }
    ]
  }
}

const warmReads = async (layout: Layout): Promise<Comparison> => {
  const directory = seeded(layout, 100_000)
  const { repository } = await open({ directory })
  const daemon = new CatFileDaemon(directory)
  process.on("exit", () => daemon.close())
  const head = Option.getOrThrow(await Effect.runPromise(repository.resolve("main")))
  const oids = oidsOf(directory)
  const reads = 2_000
  let at = 0
  const step = () => {
    at = (at + 7_919) % 100_000
    return at
  }
  const one = Effect.suspend(() =>
    Effect.flatMap(repository.lookup(head, pathOf(layout, idOf(step()))), (entry) =>
      repository.object(Option.getOrThrow(entry).oid)
    )
  )
  await Effect.runPromise(Effect.repeatN(one, 5_000))
  return {
    title: `warm read of one blob by path, 100,000 documents, ${layout}`,
    peer: "git cat-file daemon, by id",
    unit: "µs",
    rounds: rounds * 2,
    variants: [
      {
        name: "git cat-file daemon, by id",
        measure: async () => {
          const millis = await timed(async () => {
            for (let n = 0; n < reads; n++) await daemon.get(oids[step()]!)
          })
          return (millis * 1000) / reads
        }
      },
      {
        name: "engine, by path",
        measure: async () => {
          const millis = await timed(async () => {
            for (let n = 0; n < reads; n++) await Effect.runPromise(one)
          })
          return (millis * 1000) / reads
        }
      }
    ]
  }
}

const listing = (layout: Layout): Comparison => {
  const directory = seeded(layout, 100_000)
  return {
    title: `list 100,000 ids, ${layout}`,
    peer: "git ls-tree -r, spawned",
    unit: "ms",
    rounds: rounds * 2,
    variants: [
      {
        name: "git ls-tree -r, spawned",
        measure: () =>
          timed(
            () =>
              new Promise<number>((resolve) => {
                const child = spawn("git", ["-C", directory, "ls-tree", "-r", "-z", "main", "data/users"], {
                  stdio: ["ignore", "pipe", "inherit"]
                })
                const chunks: Array<Buffer> = []
                child.stdout.on("data", (bytes: Buffer) => chunks.push(bytes))
                child.on("close", () => {
                  const ids = Buffer.concat(chunks)
                    .toString("utf8")
                    .split("\0")
                    .map((line) => path.posix.basename(line.slice(53), ".json"))
                  resolve(ids.length)
                })
              })
          )
      },
      {
        name: "engine, opened anew",
        measure: async () => {
          const { close, repository } = await open({ directory })
          const millis = await timed(() =>
            Effect.runPromise(
              Effect.gen(function* () {
                const head = Option.getOrThrow(yield* repository.resolve("main"))
                const tree = yield* repository.tree(head, "data/users", { recursive: true })
                return Option.getOrThrow(tree).entries.map((entry) =>
                  path.posix.basename(entry.path, ".json")
                )
              })
            )
          )
          await close()
          return millis
        }
      }
    ]
  }
}

const curve = async () => {
  const lines = [
    "| documents | layout | µs/insert (p50) | bytes written/insert |",
    "| --- | --- | --- | --- |"
  ]
  for (const layout of ["flat", "sharded"] as const) {
    for (const count of [1_000, 10_000, 100_000]) {
      const directory = seeded(layout, count)
      const { close, repository } = await open({ directory })
      const before = bytesOf(path.join(directory, "objects"))
      const inserts = layout === "flat" && count === 100_000 ? 20 : 100
      const times: Array<number> = []
      for (let n = 0; n < inserts; n++) {
        times.push(
          await timed(() =>
            Effect.runPromise(commit(repository, `insert ${n}`, changesOf(layout, count + n, 1)))
          )
        )
      }
      await close()
      const written = (bytesOf(path.join(directory, "objects")) - before) / inserts
      times.sort((a, b) => a - b)
      const p50 = Math.round(times[times.length >> 1]! * 1000).toLocaleString("en")
      lines.push(
        `| ${count.toLocaleString("en")} | ${layout} | ${p50} | ${Math.round(written).toLocaleString("en")} |`
      )
    }
  }
  console.log(`## One insert, with fsync\n\n${machine()}\n\n${lines.join("\n")}\n`)
}

const cases: Readonly<Record<string, () => Promise<unknown>>> = {
  singles: async () => report("Single-document commits", [await compare(singles)]),
  writers: async () => report("Concurrent writers", [await compare(writers)]),
  bulk: async () => report("One large commit", [await compare(bulk)]),
  reading: async () =>
    report("Reading in bulk", [await compare(reading(false)), await compare(reading(true))]),
  warm: async () =>
    report("Warm reads", [await compare(await warmReads("flat")), await compare(await warmReads("sharded"))]),
  listing: async () => report("Listing", [await compare(listing("flat")), await compare(listing("sharded"))]),
  curve
}

const wanted = process.argv.slice(2)
for (const [name, run] of Object.entries(cases)) {
  if (wanted.length === 0 || wanted.includes(name)) await run()
}
process.exit(0)
