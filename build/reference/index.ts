// Generates the API reference in `dist/reference` from the docstrings of the public subpaths.
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { tokens } from "../../src/http/playground/docs/DesignTokens.js"
import { type Files, pagesOf, searchOf } from "./Pages.js"
import { reflections } from "./Reflections.js"

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))

const filesIn = (directory: string): Files =>
  new Map(
    readdirSync(directory, { recursive: true, encoding: "utf8" })
      .filter((path) => path.endsWith(".md"))
      .map((path) => [path, readFileSync(join(directory, path), "utf8")])
  )

const { app, project } = await reflections()
const temporary = mkdtempSync(join(tmpdir(), "reference-"))
const search = searchOf(app)
app.options.setValue("outputs", [{ name: "markdown", path: temporary }])
await app.generateOutputs(project)
const pages = pagesOf(filesIn(temporary), search)
rmSync(temporary, { recursive: true })
if (app.logger.hasErrors() || app.logger.hasWarnings())
  throw new Error("The docstrings have the problems above")

const out = here("../../dist/reference")
rmSync(out, { recursive: true, force: true })
for (const [path, text] of pages) {
  const file = join(out, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}
cpSync(here("search.js"), join(out, "search.js"))
writeFileSync(join(out, "page.css"), `${tokens}${readFileSync(here("page.css"), "utf8")}`)
