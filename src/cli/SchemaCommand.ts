import { Effect, Option } from "effect"
import { NotFoundError } from "../domain/errors/StoreError.js"
import { Store } from "../store/Store.js"
import type { StoreService } from "../store/StoreService.js"
import { atOption, collectionArgument, rejectCombination, textOption } from "./CommandOptions.js"
import { print } from "./CommandOutput.js"
import { printPreview } from "./CommitPreview.js"
import { writeOptions } from "./ConditionalWrite.js"
import { documentIn, textOf } from "./PutCommand.js"
import { viewAt } from "./ReadCommands.js"
import { storeCommand } from "./StoreCommand.js"

export const schema = storeCommand(
  "schema",
  "Print the stored JSON Schema of a collection, or store one.",
  {
    collection: collectionArgument,
    write: textOption("write", "Store the JSON Schema in this file; - is standard input"),
    at: atOption("Look at"),
    ...writeOptions
  },
  ({ at, collection, dryRun, json, message, write }) =>
    Effect.gen(function* () {
      if (Option.isNone(write)) {
        const found = yield* (yield* viewAt(at)).collection(collection).jsonSchema
        if (Option.isNone(found)) {
          return yield* new NotFoundError({
            operation: "schema",
            collection,
            message: `no JSON Schema is stored for ${collection}`,
            hint: "`schema COLLECTION --write FILE` stores one"
          })
        }
        return yield* print(true, found.value, () => "")
      }
      yield* rejectCombination("schema", "--write", { "--at": Option.isSome(at) })
      const given = yield* documentIn(yield* textOf(Option.none(), write), "schema", "the schema")
      const store = yield* Store
      const put = (into: StoreService) =>
        into
          .collection(collection)
          .writeJsonSchema({ schema: given, message: Option.getOrUndefined(message) })
      if (dryRun) return yield* printPreview(json, yield* store.preview(put))
      const commitSha = Option.getOrNull(yield* put(store))
      yield* print(json, { commitSha }, () =>
        commitSha === null
          ? `The schema of ${collection} is stored already.`
          : `The schema of ${collection} is stored as commit ${commitSha.slice(0, 10)}.`
      )
    })
)
