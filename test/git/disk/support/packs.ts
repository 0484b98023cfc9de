import * as fs from "node:fs"
import { Effect } from "effect"
import type { GitRepository } from "../../../../src/git/disk/port/GitRepository.js"
import { git, put, write } from "./temporary.js"

/** The numbers from 0 to below `count`. */
export const numbers = (count: number): ReadonlyArray<number> => Array.from({ length: count }, (_, n) => n)

/** The directory of the packs of a repository. */
export const packsIn = (directory: string): string => `${directory}/objects/pack`

/** The names of the packs of a repository. */
export const packsOf = (directory: string): ReadonlyArray<string> =>
  fs.readdirSync(packsIn(directory)).filter((name) => name.endsWith(".pack"))

/** The paths of the packs of a repository, without extension. */
export const stemsOf = (directory: string): ReadonlyArray<string> =>
  packsOf(directory).map((name) => `${packsIn(directory)}/${name.slice(0, -".pack".length)}`)

/** The number of loose objects, as Git counts them. */
export const looseIn = (directory: string): number => Number(git(directory, "count-objects").split(" ")[0])

/** Makes a file writable, and replaces its bytes. */
export const change = (file: string, to: (bytes: Buffer) => Uint8Array): void => {
  fs.chmodSync(file, 0o644)
  fs.writeFileSync(file, to(fs.readFileSync(file)))
}

/** Commits `count` times, each commit in a pack of its own. */
export const commits = (
  repository: GitRepository,
  count: number,
  content = (n: number): string | Buffer => `${n}`
) => Effect.forEach(numbers(count), (n) => write(repository, [put(`d${n}`, content(n))]))
