import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, it } from "vitest"

const root = join(import.meta.dirname, "../../src/console")

const declarations = /(?<![-\w])(?:gap|padding|margin|font)(?:-(?!weight|family)[a-z-]+)?: ([^;]+)/g

/** Neither a hairline nor the room of a whole page. */
const isStep = (size: string) => size.endsWith("rem") || (size !== "1px" && Number.parseFloat(size) < 42)

it("spaces and sizes of letters are those of the tokens", () => {
  const files = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((file) =>
    file.endsWith(".css")
  )
  const found = files.flatMap((file) =>
    [...readFileSync(join(root, file), "utf8").matchAll(declarations)].flatMap(([declaration, value = ""]) =>
      [...value.replace(/\/ [\d.]+(px)?/, "").matchAll(/(?<![\w.])[\d.]+(?:px|rem)\b/g)].some(([size]) =>
        isStep(size)
      )
        ? [`${file}: ${declaration}`]
        : []
    )
  )
  assert.isAbove(files.length, 5)
  assert.deepStrictEqual(found, [])
})
