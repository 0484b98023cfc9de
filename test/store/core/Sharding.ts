import { Effect } from "effect"
import { GitRemote, type GitRemoteService } from "../../../src/store/remote/GitRemote.js"
import * as Store from "../../../src/store/Store.js"
import type { StoreOptions } from "../../../src/store/StoreOptions.js"
import type { Server } from "../../support/github/InProcess.js"

export const open = (remote: GitRemoteService, options: StoreOptions = {}) =>
  Effect.provideService(Store.make(options), GitRemote, remote)

export const put = (path: string, value: object) => {
  const content = new TextEncoder().encode(JSON.stringify(value))
  return { _tag: "Put" as const, path: `data/${path}`, content }
}

/** Settings under which documents lie in another place than without settings. */
export const sharded = put("_chainstore.json", { format: 1, shardDepth: 1 })

/** Where the documents of the collection `people` lie on a server. */
export const peopleOn = (server: Server) =>
  server
    .git(["ls-tree", "-r", "--name-only", "main"])
    .split("\n")
    .filter((path) => path.startsWith("data/people/"))
