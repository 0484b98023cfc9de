import { createHash } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import { maxDepth } from "../../../src/domain/json/CanonicalJson.js"
import { LosslessNumber } from "../../../src/domain/json/NumberText.js"
import {
  compareEntries,
  type Entry,
  entryOf,
  entryOfLine,
  lowerBound,
  parseLeaf,
  printLeaf,
  type Row,
  weightOfFile
} from "../../../src/store/internal/ordered-tree/Leaf.js"
import {
  least,
  nameLength,
  nameOf,
  Separator,
  separatorAt
} from "../../../src/store/internal/ordered-tree/Separator.js"

const keyOf = ({ _id }: Row) => `t${String(_id)}`

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

const entry = (row: Row): Entry => Either.getOrThrow(entryOf(row, keyOf))

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex")

const notAList = Either.left("is not a list of rows in lines")
const notRows = Either.left("has lines that are not rows")

describe("a leaf", () => {
  it("is a JSON list with a row a line, and is read back with the weight of each line", () => {
    const rows = [{ _id: "a" }, { _id: "b", n: 1 }, { _id: "ü", text: "€" }].map(entry)
    const content = printLeaf(rows)
    const text = '[\n{"_id": "a"},\n{"_id": "b", "n": 1},\n{"_id": "ü", "text": "€"}\n]\n'
    assert.strictEqual(new TextDecoder().decode(content), text)
    const read = Either.getOrThrow(parseLeaf(content, keyOf))
    for (const [at, { key, line, weight }] of read.entries()) {
      assert.deepStrictEqual([line, weight, key], [rows[at]!.line, rows[at]!.weight, rows[at]!.key])
      assert.strictEqual(weight, Buffer.byteLength(line) + 2)
    }
    assert.deepStrictEqual(
      read.map(({ row }) => row["_id"]),
      ["a", "b", "ü"]
    )
    const weight = rows.reduce((sum, { weight }) => sum + weight, 0)
    assert.strictEqual(weightOfFile(content.length), weight)
    const ascii = rows.slice(0, 2)
    assert.deepStrictEqual(
      Either.getOrThrow(parseLeaf(printLeaf(ascii), keyOf)).map(({ weight }) => weight),
      ascii.map(({ weight }) => weight)
    )
    assert.strictEqual(new TextDecoder().decode(printLeaf([])), "[]\n")
    assert.deepStrictEqual(parseLeaf(printLeaf([]), keyOf), Either.right([]))
    assert.strictEqual(weightOfFile(3), 0)
    assert.strictEqual(weightOfFile(0), 0)
  })

  it("keeps the spelling of numbers", () => {
    const lines = [
      '{"_id": "a", "n": 10.0}',
      '{"_id": "b", "n": 12345678901234567890}',
      '{"_id": "c", "n": 1}'
    ]
    const content = bytes(`[\n${lines.join(",\n")}\n]\n`)
    const read = Either.getOrThrow(parseLeaf(content, keyOf))
    assert.deepStrictEqual(
      read.map(({ row }) => row["n"]),
      [new LosslessNumber("10.0"), new LosslessNumber("12345678901234567890"), 1]
    )
    assert.deepStrictEqual(printLeaf(read), content)
  })

  it("is refused if it is not a list of rows in lines", () => {
    const row = '{"_id": "a"}'
    for (const text of [
      "",
      "[]",
      "[ ]\n",
      `[\n${row}\n]`,
      `${row}\n]\n`,
      `[${row}]\n`,
      `[\n${row}]\n`,
      "\n[]\n"
    ]) {
      assert.deepStrictEqual(parseLeaf(bytes(text), keyOf), notAList, text)
    }
  })

  it("is refused if a line is not a row with an _id", () => {
    const nested = (depth: number) => `{"_id": "a", "n": ${"[".repeat(depth)}${"]".repeat(depth)}}`
    const inLeaf = (line: string) => parseLeaf(bytes(`[\n{"_id": "0"},\n${line}\n]\n`), keyOf)
    for (const line of [
      ...["", "null", "1", '"a"', "[]", "{}", '{"_id": 1}', '{"_id": null}', '{"_id": ["a"]}', '{"id": "a"}'],
      ...['{"_id": "a"', '{"_id": "a"},', '{"_id": "a", "n": 1e999}', '{"_id": "a", "n": -1e999}'],
      nested(maxDepth + 1)
    ]) {
      assert.deepStrictEqual(inLeaf(line), notRows, line.slice(0, 80))
    }
    for (const line of [
      '{"_id": ""}',
      '{"_id": "a", "n": 1e300}',
      '{"_id": "a", "n": 10.0}',
      nested(maxDepth - 1)
    ]) {
      assert.isTrue(Either.isRight(inLeaf(line)), line.slice(0, 80))
    }
  })

  it("has entries in the order of their keys", () => {
    const entries = ["a", "b", "d", "d", "f"].map((id) => entryOfLine(`{"_id": "${id}"}`, keyOf))
    const bounds = ["", "ta", "taa", "tb", "tc", "td", "te", "tf", "tg"].map((key) =>
      lowerBound(entries, key)
    )
    assert.deepStrictEqual(bounds, [0, 0, 1, 1, 2, 2, 4, 4, 5])
    assert.strictEqual(lowerBound([], "ta"), 0)
    assert.strictEqual(compareEntries(entries[0]!, entries[1]!), -1)
    assert.strictEqual(compareEntries(entries[1]!, entries[0]!), 1)
    assert.strictEqual(compareEntries(entries[2]!, entries[3]!), 1)
    const shuffled = [3, 0, 4, 2, 1].map((at) => entries[at]!)
    assert.deepStrictEqual(
      shuffled.sort(compareEntries).map(({ key }) => key),
      entries.map(({ key }) => key)
    )
  })
})

describe("a separator", () => {
  const short = `t${"a".repeat(nameLength - 1)}`
  const long = `${short}b`
  const cutAt = () => Separator.of(long)

  it("is named like its key, and a long key by its beginning and its hash", () => {
    assert.strictEqual(Separator.of(short).name, short)
    assert.strictEqual(cutAt().name, `${short}.${sha256(long).slice(0, 32)}`)
    assert.deepStrictEqual([Separator.of(short).isCut, cutAt().isCut], [false, true])
    assert.deepStrictEqual([Separator.of(short).start, cutAt().start], [short, short])
    assert.strictEqual(Separator.of(short).strength, sha256(short).slice(0, 12))
    assert.strictEqual(cutAt().strength, sha256(long).slice(0, 12))
    assert.strictEqual(least.strength, "")
  })

  it("is compared with keys as far as its name says", () => {
    const results = ["taa", "tab", "tac", "ta", "tabc"].map((key) => Separator.of("tab").compareKey(key))
    assert.deepStrictEqual(results, [-1, 0, 1, -1, 1])
    assert.strictEqual(Separator.of(short).compareKey(long), 1)
    assert.strictEqual(Separator.of(short).compareKey(short), 0)
    assert.strictEqual(cutAt().compareKey(short), -1, "a beginning of the key")
    assert.strictEqual(cutAt().compareKey(long), undefined)
    assert.strictEqual(cutAt().compareKey(`${long}a`), undefined)
    assert.strictEqual(cutAt().compareKey("ta"), -1)
    assert.strictEqual(cutAt().compareKey("tb"), 1)
    assert.strictEqual(cutAt().compareKey(`tb${long}`), 1)
    assert.strictEqual(cutAt().compareKey(`s${long}`), -1)
  })

  it("is the name of a file or directory, except of the first one", () => {
    const separator = Separator.of("tab")
    const names = [true, false].flatMap((isFirst) =>
      [true, false].map((isLeaf) => nameOf(separator, isFirst, isLeaf))
    )
    assert.deepStrictEqual(names, ["0.json", "0", "tab.json", "tab"])
    assert.strictEqual(separatorAt("0.json", true, separator), separator)
    assert.strictEqual(separatorAt("0", false, separator), separator)
    for (const { name } of [separator, Separator.of(short), cutAt()]) {
      assert.strictEqual(separatorAt(`${name}.json`, true, least)?.name, name)
      assert.strictEqual(separatorAt(name, false, least)?.name, name)
    }
    const hash = sha256(long).slice(0, 32)
    for (const foreign of [
      ...["README.md", "tab", "tab.txt", "Tab.json", "t b.json", "1.json", "4.json", "-a.json", "", ".json"],
      ...[
        `${short}b.json`,
        `${short}.${hash}0.json`,
        `${short}.${hash.slice(1)}.json`,
        `${short}${hash}a.json`
      ],
      ...[
        `${short}.${hash.slice(0, -1)}G.json`,
        `${short}.${hash.slice(0, -2)}.a.json`,
        `${short}a.${hash.slice(1)}.json`
      ],
      `tab.${hash}.json`
    ]) {
      assert.isUndefined(separatorAt(foreign, true, least), foreign)
    }
    for (const digit of ["2", "3", "5"]) assert.strictEqual(separatorAt(digit, false, least)?.name, digit)
    assert.isUndefined(separatorAt("tab.json", false, least))
  })
})
