import { spawn } from "node:child_process"
import { createHash } from "node:crypto"
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { bundleTo, type Mutant, root } from "./bundled.js"
import type { JudgeEvent } from "./LawCheck.js"

/** The laws that a mutant breaks, and the costs of finding them. */
export interface Judgement {
  readonly laws: ReadonlyArray<string>
  /** Processor time of the child. */
  readonly seconds?: number
  readonly megabytes?: number
}

/** A law that takes longer counts as broken. The slowest law of our own takes less than two seconds of processor time. */
const longestLaw = 60_000

const memory = "--max-old-space-size=1024"

const judgeBundle = (file: string): Promise<Judgement> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [memory, file], { stdio: ["ignore", "pipe", "ignore"] })
    const laws: Array<string> = []
    let law: string | undefined
    let judgement: Judgement | undefined
    let late = false
    const end = () => {
      late = true
      child.kill("SIGKILL")
    }
    let timer = setTimeout(end, longestLaw)
    createInterface({ input: child.stdout }).on("line", (line) => {
      const event: JudgeEvent = JSON.parse(line)
      clearTimeout(timer)
      timer = setTimeout(end, longestLaw)
      if ("begins" in event) law = event.begins
      else if ("breaks" in event) laws.push(event.breaks)
      else judgement = { laws, seconds: event.seconds, megabytes: event.megabytes }
    })
    child.on("error", reject)
    child.on("close", (code) => {
      clearTimeout(timer)
      if (judgement !== undefined) resolve(judgement)
      else if (law === undefined) reject(new Error(`The laws did not start: the child ended with ${code}.`))
      else resolve({ laws: [...laws, `${law} (${late ? "does not end" : "ends the process"})`] })
    })
  })

/** The judgements of earlier runs by the digest of the bundle, so that an interrupted run is resumed. */
const recorded = (file: string): ReadonlyMap<string, Judgement> =>
  existsSync(file)
    ? new Map(
        readFileSync(file, "utf8")
          .split("\n")
          .filter((line) => line !== "")
          .map((line) => JSON.parse(line))
          .map(({ digest, ...judgement }) => [digest, judgement])
      )
    : new Map()

/**
 * Judges each mutant in a process of its own: the modules, timers and endless fibers of 300 mutants do not fit into
 * one. `contents` is the program of the child, which calls `reportChecks`. A judgement is kept in `reports/mutants`
 * and taken from there if the bundle is the same.
 */
export const childJudge = (part: string, folder: string, contents: string) => {
  const records = join(root, "reports/mutants")
  mkdirSync(records, { recursive: true })
  const file = join(records, `${part}.jsonl`)
  const known = recorded(file)
  return async (mutant: Pick<Mutant, "edits" | "name">): Promise<Judgement> => {
    const directory = mkdtempSync(join(tmpdir(), "mutant-"))
    try {
      const bundle = join(directory, "laws.mjs")
      await bundleTo(bundle, mutant, folder, contents)
      const digest = createHash("sha256").update(readFileSync(bundle)).digest("hex")
      const before = known.get(digest)
      if (before !== undefined) return before
      const judgement = await judgeBundle(bundle)
      appendFileSync(file, `${JSON.stringify({ name: mutant.name, ...judgement, digest })}\n`)
      return judgement
    } finally {
      rmSync(directory, { recursive: true })
    }
  }
}
