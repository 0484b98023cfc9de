/** Reads a document of a store on this machine, tries to write one, and says what came of both. */
import { Effect, Layer, Option } from "effect"
import * as LocalGit from "../../../../src/store/remote/local/LocalGit.js"
import * as Store from "../../../../src/store/Store.js"

const [directory = ""] = process.argv.slice(2)
const program = Effect.gen(function* () {
  const notes = (yield* Store.Store).collection("notes")
  const read = Option.getOrThrow(yield* notes.get("first"))
  const refused = yield* Effect.flip(notes.insert({ n: 2 }))
  const { message } = refused
  return { read, refused: "reason" in refused ? refused.reason : refused._tag, message }
}).pipe(Effect.provide(Layer.provide(Store.layer({}), LocalGit.layer({ directory, repo: "me/notes" }))))

process.stdout.write(JSON.stringify(await Effect.runPromise(program)))
