import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Request from "effect/Request"
import * as RequestResolver from "effect/RequestResolver"
import * as Stream from "effect/Stream"
import type { ReadError } from "../../domain/StoreError.js"
import { pathProblem } from "../../git/Names.js"
import { documentPath } from "../DocumentPath.js"
import type { FileVersion } from "../remote/GitRemote.js"
import type { StoreCore } from "./StoreCore.js"

/** A document's path and the file there. */
export interface Looked {
  readonly path: string
  readonly file: Option.Option<FileVersion>
}

interface Look extends Request.Request<Looked, ReadError> {
  readonly _tag: "Look"
  readonly core: StoreCore
  readonly collection: string
  readonly id: string
}

const Look = Request.tagged<Look>("Look")

/** The documents of one core, at one commit. */
const lookAt = (core: StoreCore, looks: ReadonlyArray<Look>) =>
  Effect.gen(function* () {
    const snapshot = core.snapshot()
    yield* snapshot.head
    const { settings } = yield* core.settings(snapshot)
    const paths = looks.map(({ collection, id }) => documentPath(core.options.root, settings, collection, id))
    const wanted = new Set(paths.filter((path) => pathProblem(path) === undefined))
    const files = yield* Stream.runFold(
      snapshot.files([...wanted], { concurrency: core.options.concurrency }),
      new Map<string, FileVersion>(),
      (all, { content, oid, path }) => all.set(path, { content, oid })
    )
    yield* Effect.forEach(looks, (look, at) =>
      Request.succeed(look, { path: paths[at]!, file: Option.fromNullable(files.get(paths[at]!)) })
    )
  }).pipe(
    Effect.catchAllCause((cause) =>
      Effect.forEach(looks, (look) => Request.failCause(look, cause), { discard: true })
    )
  )

const byCore = (looks: ReadonlyArray<Look>) => {
  const found = new Map<StoreCore, Array<Look>>()
  for (const one of looks) {
    const own = found.get(one.core)
    if (own === undefined) found.set(one.core, [one])
    else own.push(one)
  }
  return found
}

// One for all stores: requests of different resolvers are not made together.
const resolver = RequestResolver.makeBatched((looks: ReadonlyArray<Look>) =>
  Effect.forEach(byCore(looks), ([core, own]) => lookAt(core, own), {
    discard: true,
    concurrency: "unbounded"
  })
)

/** Looks at a document together with those that are asked for at the same time. */
export const look = (core: StoreCore, collection: string, id: string): Effect.Effect<Looked, ReadError> =>
  Effect.request(Look({ core, collection, id }), resolver)
