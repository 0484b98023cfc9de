import { assert, it } from "@effect/vitest"
import {
  decimal,
  LosslessNumber,
  numberSpellings,
  numberText,
  pythonNumber
} from "../../../src/domain/json/NumberText.js"

it("a number that keeps its text is a number in JSON", () => {
  assert.strictEqual(JSON.stringify([new LosslessNumber("1.50"), new LosslessNumber("1e2")]), "[1.5,100]")
})

it("a number is written as Python writes it", () => {
  for (const [value, text] of [
    [0, "0"],
    [-0, "-0.0"],
    [-12, "-12"],
    [1.5, "1.5"],
    [1e-4, "0.0001"],
    [-1e-5, "-1e-05"],
    [1.5e-10, "1.5e-10"]
  ] as const)
    assert.strictEqual(numberText(value), text)
  for (const [given, text] of [
    ["0", "0"],
    ["-0", "0"],
    ["-12", "-12"],
    ["12345678901234567891234", "12345678901234567891234"],
    ["0.0", "0.0"],
    ["-0.0", "-0.0"],
    ["1.50", "1.5"],
    ["-3.0", "-3.0"],
    ["1e5", "100000.0"],
    ["1e15", "1000000000000000.0"],
    ["1e16", "1e+16"],
    ["-1.5E300", "-1.5e+300"],
    ["5e-7", "5e-07"]
  ] as const)
    assert.strictEqual(pythonNumber(given), text)
})

it("the spellings of a number are those that programs write", () => {
  for (const [value, spellings] of [
    [0, ["0", "0.0", "-0", "-0.0"]],
    [-0, ["0", "0.0", "-0", "-0.0"]],
    [1, ["1", "1.0"]],
    [-7, ["-7", "-7.0"]],
    [0.5, ["0.5"]],
    [1e-7, ["1e-07"]],
    [1e16, ["10000000000000000", "1e+16"]],
    [1e21, ["1e+21", "1000000000000000000000"]]
  ] as const)
    assert.deepStrictEqual(numberSpellings(value), spellings)
})

it("equal decimal numbers have one text, and others have others", () => {
  for (const [text, ...given] of [
    ["0", "0", "-0", "0.00", "0e5", "-0.0e-1"],
    ["12e1", "120", "12e1", "12e+1", "1.2e2", "0.12E3", "120.0", "1200e-1"],
    ["-5e-1", "-0.5", "-5e-1", "-0.50", "-50E-2"],
    ["5e-3", "0.005", "5e-3", "0.0050", "0.00005e+2"],
    ["1e12", "1000000000000", "1e12", "1e+12", "100e10"],
    ["12345678901234567891e0", "12345678901234567891", "12345678901234567891.0"]
  ] as const)
    for (const one of given) assert.strictEqual(decimal(one), text, one)
})
