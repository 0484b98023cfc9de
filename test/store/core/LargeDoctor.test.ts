import { assert, it } from "@effect/vitest"
import { Effect, Either, Layer, Option } from "effect"
import { makeCore } from "../../../src/store/internal/commit/MakeCore.js"
import { readDocuments } from "../../../src/store/internal/doctor/DoctorDocuments.js"
import { GitRemote } from "../../../src/store/remote/GitRemote.js"
import * as Memory from "../../../src/store/remote/memory/Memory.js"
import { resolveOptions } from "../../../src/store/StoreOptions.js"
import { turnsDuring } from "../../support/turnsDuring.js"

it.live("timers run while the doctor reads 20,000 documents", () =>
  Effect.gen(function* () {
    const remote = yield* GitRemote
    const content = new TextEncoder().encode('{"n": 1}')
    yield* remote.commit("main", Option.none(), {
      message: "by another program",
      changes: Array.from({ length: 20_000 }, (_, n) => ({
        _tag: "Put" as const,
        path: `data/things/t${n}.json`,
        content
      }))
    })
    const core = yield* makeCore(remote, Either.getOrThrow(resolveOptions({})))
    const snapshot = core.snapshot()
    const head = Option.getOrThrow(yield* snapshot.head)
    const { listing } = yield* core.listing(snapshot, "things")
    const turns = yield* turnsDuring(readDocuments(core, head, "things", listing, new Set(["n"]), undefined))
    assert.isAbove(turns, 5)
  }).pipe(Effect.provide(Layer.fresh(Memory.layer())))
)
