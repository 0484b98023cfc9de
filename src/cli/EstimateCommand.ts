import { Options } from "@effect/cli"
import { Effect, Option } from "effect"
import type { CollectionEstimate, StoragePlan } from "../store/CollectionEstimate.js"
import { Store } from "../store/Store.js"
import { collectionArgument, integerOption } from "./CommandOptions.js"
import { jsonOption, print, table } from "./CommandOutput.js"
import { storeCommand } from "./StoreCommand.js"

const shardingOf = ({ shardBy, shardDepth, shardWidth }: StoragePlan): string =>
  shardDepth === 0
    ? "one directory"
    : `by ${shardBy === "hash" ? "hash" : "leading characters"}, depth ${shardDepth}, width ${shardWidth}`

const lines = (
  { advice, collection, current, documents, indexes, manifest, recommended }: CollectionEstimate,
  columns: number
): string => {
  const row = (name: string, of: (plan: StoragePlan) => string | number) => [
    name,
    of(current),
    of(recommended)
  ]
  return [
    `${collection}: ${documents} documents, ${indexes} ${indexes === 1 ? "index" : "indexes"}, ${manifest ? "a manifest" : "no manifest"}`,
    table(
      ["", "now", "recommended"],
      [
        row("indexes and manifest", ({ format }) =>
          format === 1 ? "one file each (format 1)" : "trees (format 2)"
        ),
        row("documents", shardingOf),
        row("files of an insert", ({ insert }) => insert.files),
        row("bytes of an insert, about", ({ insert }) => insert.bytes),
        row("requests of an insert", ({ insert }) => insert.requests)
      ],
      columns
    ),
    ...(advice.length === 0 ? ["Nothing is worth changing."] : []),
    ...advice.flatMap(({ hint, reason, setting }) => [`${setting}: ${reason}`, `  ${hint}`])
  ].join("\n")
}

export const estimate = storeCommand(
  "estimate",
  "Show what an insert into a collection costs, and the settings that its size recommends.",
  {
    collection: collectionArgument,
    documents: integerOption("documents", "Estimate for this many documents instead of the present ones"),
    indexes: integerOption("indexes", "Estimate for this many indexes instead of the present ones"),
    manifest: Options.boolean("manifest").pipe(Options.withDescription("Estimate with a manifest")),
    json: jsonOption
  },
  ({ collection, documents, indexes, json, manifest }) =>
    Effect.gen(function* () {
      const store = yield* Store
      const estimated = yield* store.collection(collection).estimate({
        documents: Option.getOrUndefined(documents),
        indexes: Option.getOrUndefined(indexes),
        ...(manifest ? { manifest } : {})
      })
      yield* print(json, estimated, (columns) => lines(estimated, columns))
    })
)
