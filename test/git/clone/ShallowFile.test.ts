import * as fs from "node:fs"
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import type { Oid } from "../../../src/domain/identifiers/Oid.js"
import * as ShallowFile from "../../../src/git/clone/ShallowFile.js"
import { withReplaced } from "../disk/support/replacedMethod.js"
import { engine } from "../disk/support/temporary.js"

const oid = (digit: string) => digit.repeat(40) as Oid

/** Writes at most seven bytes for each call, as a disk that is nearly full does. */
const shortly = (real: typeof fs.writeSync) => (fd: number, data: string | Uint8Array, at?: number) => {
  const bytes = typeof data === "string" ? Buffer.from(data) : data
  return real(fd, bytes, at ?? 0, Math.min(7, bytes.length - (at ?? 0)))
}

it.scopedLive("the file contains all commits if a call writes a part of the bytes only", () =>
  Effect.gen(function* () {
    const { directory } = yield* engine()
    const shallow = yield* ShallowFile.make(directory)
    yield* withReplaced({ writeSync: shortly }, shallow.update([oid("1"), oid("2")], []))
    assert.strictEqual(fs.readFileSync(`${directory}/shallow`, "latin1"), `${oid("1")}\n${oid("2")}\n`)
    yield* withReplaced({ writeSync: shortly }, shallow.update([oid("3")], [oid("1")]))
    assert.deepStrictEqual([...shallow.commits], [oid("2"), oid("3")])
  })
)
