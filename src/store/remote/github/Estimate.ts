import type { Estimate } from "../GitRemote.js"
import type { Settings } from "./client/Options.js"
import { treeRequests } from "./objects/TreeChunks.js"

/** The number of requests of an operation without concurrent writers. */
export const estimateWith =
  (settings: Settings) =>
  (operation: Estimate): number => {
    /** One push. Before the first one: the head, its trees, and the documents. */
    const push = (warm: boolean) => (warm ? 1 : 4)
    const commit = (changes: number, bytes: number, warm: boolean) =>
      settings.commitVia === "push"
        ? push(warm)
        : (warm ? 0 : 1) +
          (settings.commitVia === "graphql" && bytes <= 25_000_000 ? 1 : treeRequests(changes, bytes) + 2)
    switch (operation._tag) {
      case "Read":
        return settings.useGraphql && !settings.readOnly
          ? Math.ceil(operation.documents / settings.graphqlBatchSize)
          : operation.documents
      case "Lookup":
        return settings.useGraphql && !settings.readOnly ? 1 : 2
      case "List":
        return Math.max(1, Math.ceil(operation.entries / 100_000) + (operation.entries > 100_000 ? 1 : 0))
      case "Commit":
        return commit(operation.changes, operation.bytes, operation.warm)
      case "Propose":
        // The branch and the pull request.
        return commit(operation.changes, operation.bytes, operation.warm) + 2 + (operation.labels ? 1 : 0)
      case "PutFile":
        return operation.bytes > settings.contentsMaxBytes || settings.commitVia === "push"
          ? commit(1, operation.bytes, operation.warm)
          : operation.warm
            ? 1
            : 2
    }
  }
