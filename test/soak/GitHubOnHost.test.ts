import { FetchHttpClient } from "@effect/platform"
import { Context, Effect, Layer, Redacted, Schema } from "effect"
import type { Oid } from "../../src/domain/identifiers/Oid.js"
import * as GitHub from "../../src/store/remote/github/GitHub.js"
import { gitRemoteContract } from "../contract/GitRemoteContract.js"
import { ownProcess } from "../support/github/ownProcess.js"
import { HostServer, layer as hostLayer } from "../support/host/HostServer.js"

const Named = Schema.Struct({ sha: Schema.String })

const subject = (options: Partial<GitHub.GitHubOptions>) =>
  Effect.gen(function* () {
    const host = Context.get(yield* Layer.build(hostLayer({})), HostServer)
    const repo = "local/store"
    const send = (method: string, path: string, body: unknown) =>
      Effect.promise(async () => {
        const response = await fetch(`${host.api}${path}`, {
          method,
          headers: { authorization: `Bearer ${host.token}`, "content-type": "application/json" },
          body: JSON.stringify(body)
        })
        if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
        return response.status === 204 ? {} : ((await response.json()) as unknown)
      })
    yield* send("POST", "/user/repos", { name: "store" })
    const connect = GitHub.scoped({
      repo,
      apiUrl: host.api,
      rawUrl: host.raw,
      token: Redacted.make(host.token),
      ...options
    }).pipe(Effect.provide(FetchHttpClient.layer), ownProcess)
    return {
      remote: yield* connect,
      another: connect,
      force: (branch: string, at: Oid) =>
        send("PATCH", `/repos/${repo}/git/refs/heads/${branch}`, { sha: at, force: true }),
      tag: (name: string, at: Oid) =>
        send("POST", `/repos/${repo}/git/refs`, { ref: `refs/tags/${name}`, sha: at }),
      merge: (parents: ReadonlyArray<Oid>, tree: Oid) =>
        send("POST", `/repos/${repo}/git/commits`, { message: "merge", tree, parents }).pipe(
          Effect.map((made) => Schema.decodeUnknownSync(Named)(made).sha as Oid)
        )
    }
  })

const sizes = {
  files: 2_000,
  largeBlob: 20_000_000,
  listing: 10_000,
  fibres: 16,
  interruptions: 40,
  interruptWithin: 60
}
const timeout = 300_000
const promises = { clashesAreRefused: false, firstIsRoot: false }

gitRemoteContract({
  name: "GitHub's client on our own host, over REST",
  make: subject({}),
  sizes,
  timeout,
  promises: { ...promises, movedBackIsNoticed: false }
})

gitRemoteContract({
  name: "GitHub's client on our own host, over GraphQL",
  make: subject({ useGraphql: true, commitVia: "graphql" }),
  sizes,
  timeout,
  promises
})

gitRemoteContract({
  name: "GitHub's client on our own host, by push",
  make: subject({ commitVia: "push" }),
  sizes,
  timeout
})
