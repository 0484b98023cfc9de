import { Options } from "@effect/cli"
import Table from "cli-table3"
import { Console, Context, Effect } from "effect"
import widthOf from "string-width"
import type { LosslessJson } from "../domain/json/LosslessJson.js"
import type { DestinationError } from "../store/transfer/Destination.js"
import { jsonLine, jsonLines } from "./JsonOutput.js"
import { escapeControls } from "./TerminalText.js"

/** Standard output and standard error of the command line. */
export class CommandOutput extends Context.Tag("chainstore/cli/Screen")<
  CommandOutput,
  {
    /** Whether standard output is a terminal: results are tables there, and JSON otherwise. */
    readonly isTerminal: boolean
    /** Whether standard error is a terminal, which shows progress. */
    readonly showsProgress: boolean
    readonly columns: number
    /** Writes to standard error. */
    readonly writeMessage: (text: string) => Effect.Effect<void>
    /** Writes to standard output, and waits while its reader is slow. */
    readonly writeBytes: (bytes: Uint8Array) => Effect.Effect<void, DestinationError>
  }
>() {}

/** The option of every command that prints data. */
export const jsonOption = Options.boolean("json").pipe(
  Options.withDescription("Print JSON, which is the default if standard output is not a terminal")
)

/** Writes a line to standard output. */
export const printLine = (text: string) => Console.log(escapeControls(text))

/** Prints text on a terminal, and JSON elsewhere or with `--json`. */
export const print = (json: boolean, data: unknown, human: (columns: number) => string) =>
  Effect.flatMap(CommandOutput, (screen) =>
    printLine(json || !screen.isTerminal ? jsonLines(data) : human(screen.columns))
  )

/** A table as wide as the terminal. Longer cells are truncated with an ellipsis. */
export const table = (
  headings: ReadonlyArray<string>,
  rows: ReadonlyArray<ReadonlyArray<LosslessJson | undefined>>,
  columns: number
): string => {
  const texts = rows.map((row) => row.map(inOneLine))
  const head = headings.map(inOneLine)
  const natural = head.map((heading, index) =>
    texts.reduce((widest, row) => Math.max(widest, widthOf(row[index] ?? "")), widthOf(heading))
  )
  const drawn = new Table({
    head,
    colWidths: fitted(natural, columns - headings.length * 2).map((width) => width + 2),
    style: { head: [], border: [], "padding-left": 0, "padding-right": 2 },
    chars: blankBorders
  })
  drawn.push(...texts.map((row) => [...row]))
  return drawn
    .toString()
    .split("\n")
    .map((line) => line.trimEnd())
    .join("\n")
}

const blankBorders = Object.fromEntries(
  [
    "top",
    "top-mid",
    "top-left",
    "top-right",
    "bottom",
    "bottom-mid",
    "bottom-left",
    "bottom-right",
    "left",
    "left-mid",
    "mid",
    "mid-mid",
    "right",
    "right-mid",
    "middle"
  ].map((side) => [side, ""])
)

/** Reduces the widest columns until all fit. */
const fitted = (natural: ReadonlyArray<number>, available: number) => {
  const widths = [...natural]
  const least = 6
  for (let over = sum(widths) - available; over > 0; over--) {
    const widest = widths.indexOf(Math.max(...widths))
    if (widths[widest]! <= least) break
    widths[widest]!--
  }
  return widths
}

const sum = (numbers: ReadonlyArray<number>) => numbers.reduce((a, b) => a + b, 0)

const inOneLine = (value: LosslessJson | undefined): string => {
  const text = typeof value === "string" ? value : value === null ? "" : jsonLine(value)
  return escapeControls(text.replace(/[\r\n\t]+/g, " "))
}
