// The Node modules of Effect's platform that the servers and the mains use.
export * as NodeContext from "@effect/platform-node/NodeContext"
export * as NodeRuntime from "@effect/platform-node/NodeRuntime"
export * as NodeStream from "@effect/platform-node/NodeStream"
