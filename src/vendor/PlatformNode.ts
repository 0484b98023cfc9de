// What the servers and the mains use of Node, by Effect.
export * as NodeContext from "@effect/platform-node/NodeContext"
export * as NodeRuntime from "@effect/platform-node/NodeRuntime"
export * as NodeStream from "@effect/platform-node/NodeStream"
