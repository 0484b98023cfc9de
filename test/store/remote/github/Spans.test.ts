import { assert, describe, it } from "@effect/vitest"
import { Effect, Metric, Option, Stream } from "effect"
import { requests } from "../../../../src/store/remote/OperationCost.js"
import { fresh } from "../../../support/github/Remote.js"
import { collecting } from "../../../support/spans.js"

const put = (path: string, text: string) =>
  ({ _tag: "Put", path, content: new TextEncoder().encode(text) }) as const

const world = Effect.gen(function* () {
  const { remote, server } = yield* fresh()
  server.commit("main", [put("a.json", "1"), put("d/b.json", "2"), put("d/c.json", "3")], "base")
  let remaining = 5000
  server.headers = () => ({
    "x-ratelimit-limit": "5000",
    "x-ratelimit-remaining": `${--remaining}`,
    "x-ratelimit-reset": `${Math.floor(Date.now() / 1000) + 3600}`,
    "x-ratelimit-resource": "core"
  })
  return { remote, server, left: () => remaining, ...collecting() }
})

describe("a span has the costs of an operation", () => {
  it.scopedLive("requests, 304 replies, bytes, and the remaining limit", () =>
    Effect.gen(function* () {
      const { attributes, left, remote, tracer } = yield* world
      yield* Effect.gen(function* () {
        const first = Option.getOrThrow(yield* remote.snapshot("main").file("a.json"))
        const cold = attributes("GitHub.file")
        assert.deepInclude(cold, { path: "a.json", requests: 1, notModified: 0, remaining: left() })
        assert.isAbove(Number(cold["bytes"]), 50)
        yield* remote.snapshot("main").file("a.json", { cached: Option.some(first) })
        assert.deepInclude(attributes("GitHub.file"), {
          requests: 1,
          notModified: 1,
          bytes: 0,
          remaining: left()
        })
        const head = yield* remote.head("main")
        yield* remote.commit("main", head, { message: "m", changes: [put("a.json", "4")] })
        assert.deepInclude(attributes("GitHub.commit"), { requests: 3, notModified: 0, remaining: left() })
      }).pipe(Effect.withTracer(tracer))
    })
  )

  it.scopedLive("nested operations count towards the outermost, and a stream towards itself", () =>
    Effect.gen(function* () {
      const { attributes, ended, remote, tracer } = yield* world
      yield* Effect.gen(function* () {
        yield* remote.commitNext("main", ({ directory, head }) =>
          Effect.map(Effect.zipRight(head, directory("d")), () => ({
            commit: Option.some({ message: "m", changes: [put("e.json", "5")] }),
            result: undefined
          }))
        )
        assert.strictEqual(attributes("GitHub.commitNext")["requests"], 5)
        assert.isUndefined(attributes("GitHub.commit")["requests"])
        assert.strictEqual(ended.find(({ name }) => name === "GitHub.tree")?.parent, "GitHub.commitNext")
        const head = Option.getOrThrow(yield* remote.head("main"))
        const metric = Metric.tagged(requests, "operation", "blobs")
        const before = (yield* Metric.value(metric)).count
        const blobs = yield* Stream.runCollect(
          remote.blobs(head, [{ path: "d/b.json" }, { path: "d/c.json" }])
        )
        assert.strictEqual(blobs.length, 2)
        assert.deepInclude(attributes("GitHub.blobs"), { files: 2, requests: 2, notModified: 0 })
        assert.strictEqual((yield* Metric.value(metric)).count, before + 2)
        const log = yield* Stream.runCollect(Stream.take(remote.log(head, ""), 1))
        assert.strictEqual(log.length, 1)
        assert.deepInclude(attributes("GitHub.log"), { requests: 1 })
      }).pipe(Effect.withTracer(tracer))
    })
  )
})
