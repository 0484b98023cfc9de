import { chmodSync, mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

const prefix = "chainstore-test-process-"

const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** A temporary directory for as long as this process runs. Those of ended processes are removed: workers of vitest are killed. */
export const processDirectory = (): string => {
  for (const name of readdirSync(tmpdir())) {
    const pid = new RegExp(`^${prefix}(\\d+)-`).exec(name)?.[1]
    if (pid === undefined || isRunning(Number(pid))) continue
    try {
      rmSync(join(tmpdir(), name), { recursive: true, force: true })
    } catch {
      // It belongs to another user.
    }
  }
  const directory = mkdtempSync(join(tmpdir(), `${prefix}${process.pid}-`))
  // Other users may read it.
  chmodSync(directory, 0o755)
  return directory
}
