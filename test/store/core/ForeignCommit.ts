import { Effect } from "effect"
import type { Json } from "../../../src/domain/json/Json.js"
import type { Change, GitRemoteService } from "../../../src/store/remote/GitRemote.js"
import type { StoreService } from "../../../src/store/StoreService.js"

/** A commit of a program that does not use the store. */
export const foreignCommit = (remote: GitRemoteService, ...changes: ReadonlyArray<Change>) =>
  Effect.flatMap(remote.head("main"), (head) => remote.commit("main", head, { message: "by hand", changes }))

/** A file below the store's root. */
export const file = (path: string, content: string | object): Change => ({
  _tag: "Put",
  path: `data/${path}`,
  content: new TextEncoder().encode(typeof content === "string" ? content : JSON.stringify(content))
})

/** The ids that `findBy` returns. */
export const foundIds = (store: StoreService, value: Json, field = "city") =>
  Effect.map(store.collection("people").findBy(field, value, { onInvalid: "skip" }), (all) =>
    all.map(({ _id }) => _id)
  )
