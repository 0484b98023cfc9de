import { Command } from "@effect/cli"
import { NodeContext } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Console, Effect, Layer } from "effect"
import { storeCommand } from "../../src/cli/StoreCommand.js"
import * as Stores from "../../src/layers/StoreOpener.js"
import { commandLine } from "./CommandLine.js"

const obeyed = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/
const evil = "\u001b]0;owned\u0007\u001b[2J\u009b2J\u007f\u202ez\r"

describe("a terminal", () => {
  it.scopedLive("is given nothing of a document that it would obey, and JSON keeps its values", () =>
    Effect.gen(function* () {
      const { call } = yield* commandLine
      yield* call(["put", "things", "a", "--data", '{"n":1}'])
      const first = (yield* call(["history", "things", "a"])).json()[0].sha
      yield* call(["put", "things", "a", "-m", `m${evil}`, "--data", JSON.stringify({ [evil]: evil })])
      for (const line of [
        ["get", "things", "a"],
        ["query", "things"],
        ["query", "things", "--json"],
        ["diff", "things", "a", first],
        ["history", "things", "a"],
        ["restore", "things", "a", first, "--dry-run"],
        ["export", "things", "--format", "csv"],
        ["export", "things", "--format", "ndjson"]
      ]) {
        const ran = yield* call(line, { terminal: true })
        assert.strictEqual(ran.code, 0, ran.err)
        assert.notMatch(ran.out, obeyed, line.join(" "))
        assert.include(ran.out, "\\u001b")
      }
      assert.strictEqual((yield* call(["get", "things", "a"], { terminal: true })).json()[evil], evil)
      const workbook = yield* call(["export", "things", "--format", "xlsx"], { terminal: true })
      assert.deepStrictEqual([workbook.code, workbook.out], [2, ""])
    })
  )

  it.scopedLive("is given nothing of an imported file that it would obey", () =>
    Effect.gen(function* () {
      const { call } = yield* commandLine
      const dry = yield* call(["import", "things", "-", "--format", "csv", "--dry-run"], {
        terminal: true,
        input: `_id,n\n${evil.trim()},1\n`
      })
      assert.notMatch(dry.out, obeyed)
      const refused = yield* call(["import", "things", "-", "--format", "ndjson"], {
        terminal: true,
        input: `{"_id":"a"}\n${evil} nonsense\n`
      })
      assert.strictEqual(refused.code, 2)
      assert.notMatch(refused.err, obeyed)
      const unknown = yield* call(["get", "things", "a", `--${evil}`], { terminal: true })
      assert.notMatch(unknown.err, obeyed)
    })
  )

  it.scopedLive("separates its columns for characters of any width", () =>
    Effect.gen(function* () {
      const { call } = yield* commandLine
      yield* call(["put", "things", "a", "--data", '{"a":"漢字漢字漢字","b":"x"}'])
      yield* call(["put", "things", "b", "--data", '{"a":"abc","b":"y"}'])
      const ran = yield* call(["query", "things", "--columns", "a,b"], { terminal: true })
      assert.deepStrictEqual(ran.out.split("\n"), [
        "a             b",
        "漢字漢字漢字  x",
        "abc           y",
        "2 documents"
      ])
    })
  )
})

describe("what the store logs", () => {
  it.scopedLive("goes to standard error, where it mixes with no results", () =>
    Effect.gen(function* () {
      const { directory } = yield* commandLine
      const probe = storeCommand(
        "probe",
        "logs and answers",
        {},
        () => Effect.zipRight(Effect.logWarning("look out"), Console.log("a result")),
        () => "empty"
      )
      const lines: Record<"log" | "error", Array<string>> = { log: [], error: [] }
      const kept = { log: console.log, error: console.error }
      for (const name of ["log", "error"] as const) console[name] = (line) => lines[name].push(String(line))
      yield* Command.run(probe, { name: "probe", version: "0" })([
        "node",
        "probe",
        "--directory",
        directory
      ]).pipe(
        Effect.provide(Layer.merge(NodeContext.layer, Stores.layer)),
        Effect.ensuring(Effect.sync(() => Object.assign(console, kept)))
      )
      assert.deepStrictEqual(lines.log, ["a result"])
      assert.match(lines.error.join("\n"), /level=WARN.*look out/)
    })
  )
})
