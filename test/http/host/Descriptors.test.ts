import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, it } from "@effect/vitest"

const script = fileURLToPath(new URL("./support/descriptors.ts", import.meta.url))

it("a host without file descriptors says so, ends by nothing, and remembers nothing of it", () => {
  const directory = mkdtempSync(join(tmpdir(), "host-descriptors-"))
  try {
    const { status, stderr, stdout } = spawnSync(
      "sh",
      ["-c", `ulimit -n 2048 && exec "$0" --import tsx "$@"`, process.execPath, script, directory],
      { encoding: "utf8" }
    )
    assert.deepStrictEqual([status, stderr], [0, ""])
    assert.deepStrictEqual(JSON.parse(stdout), {
      without: ["RemoteError", "RemoteError"],
      after: ["Success", "Success"]
    })
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
})
