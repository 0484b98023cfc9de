import { assert, describe, it } from "@effect/vitest"
import { Effect, Sink } from "effect"
import type { Collection } from "../../../../src/store/Collection.js"
import { GitRemote } from "../../../../src/store/remote/GitRemote.js"
import * as Store from "../../../../src/store/Store.js"
import type { ImportOptions } from "../../../../src/store/transfer/Import.js"
import { verbs } from "../../../support/github/InProcess.js"
import { fresh, remoteOf } from "../../../support/github/Remote.js"
import { ways } from "../../core/Remotes.js"

type Way = (typeof ways)[number][0]

interface Transfer {
  readonly name: string
  readonly most: { readonly [way in Way]: number }
  /** What is stored before, by another client. */
  readonly stored: number
  readonly run: (docs: Collection) => Effect.Effect<unknown, unknown>
}

const records = (count: number) => Array.from({ length: count }, (_, n) => ({ _id: `i${n}`, n }))

const importing = (options?: ImportOptions) => (docs: Collection) => docs.importRecords(records(250), options)

const transfers: ReadonlyArray<Transfer> = [
  {
    name: "an import of 250, every record checked first",
    most: { "over REST": 11, "over GraphQL": 4 },
    stored: 0,
    run: importing({ validate: "first" })
  },
  {
    name: "an import of 250 that goes on after the first 100",
    most: { "over REST": 108, "over GraphQL": 6 },
    stored: 100,
    run: importing()
  },
  {
    name: "an import of 250, and again where all are stored and known",
    most: { "over REST": 14, "over GraphQL": 7 },
    stored: 0,
    run: (docs) => Effect.zipRight(importing()(docs), importing()(docs))
  },
  {
    name: "a dry run of 250 into nothing",
    most: { "over REST": 7, "over GraphQL": 7 },
    stored: 0,
    run: importing({ dryRun: true })
  },
  {
    name: "a dry run of 250, 200 of them stored",
    most: { "over REST": 206, "over GraphQL": 10 },
    stored: 200,
    run: importing({ dryRun: true })
  },
  {
    name: "an export of 200 as text",
    most: { "over REST": 203, "over GraphQL": 7 },
    stored: 200,
    run: (docs) => docs.exportText(Sink.drain, "csv")
  },
  {
    name: "an export of 200 as a workbook",
    most: { "over REST": 203, "over GraphQL": 7 },
    stored: 200,
    run: (docs) => docs.exportExcel(Sink.drain)
  }
]

describe.each(ways)("requests of an import or export, counted at the socket, %s", (way, options) => {
  for (const { most, name, run, stored } of transfers) {
    it.scopedLive(name, () =>
      Effect.gen(function* () {
        const { server } = yield* fresh()
        const open = Effect.flatMap(remoteOf(server, options), (remote) =>
          Effect.provideService(Store.make({}), GitRemote, remote)
        )
        const before = (yield* open).collection("docs")
        yield* (yield* open).collection("warmup").insert({ n: 1 }, { id: "first" })
        if (stored > 0) yield* before.importRecords(records(stored), { chunkSize: 200 })
        const docs = (yield* open).collection("docs")
        server.seen.length = 0
        yield* run(docs)
        const counted = verbs(server)
        assert.isAtMost(counted.length, most[way], counted.slice(0, 30).join("\n"))
        assert.deepStrictEqual(server.problems, [])
      })
    )
  }
})
