import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("../../..", import.meta.url))

/** A piece of a program that a page shows, or the docstring of a declaration. */
export interface Snippet {
  /** The file and the place among its snippets, such as `docs/store.md 2`. */
  readonly name: string
  readonly language: "js" | "ts"
  readonly code: string
}

const snippetsIn = (file: string, text: string): ReadonlyArray<Snippet> =>
  [...text.matchAll(/```(js|ts)\n([\s\S]*?)```/g)].map(
    ([, language, code = ""], index): Snippet => ({
      name: `${file} ${index + 1}`,
      language: language === "js" ? "js" : "ts",
      code
    })
  )

const textOf = (file: string) => readFileSync(join(root, file), "utf8")

/** Every piece of TypeScript and JavaScript that the pages show. */
const shown: ReadonlyArray<Snippet> = [
  "README.md",
  ...readdirSync(join(root, "docs"))
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`)
].flatMap((page) => snippetsIn(page, textOf(page)))

/** The text of a file's docstrings, each from its first `@example` on. */
const examplesOf = (source: string): string =>
  [...source.matchAll(/\/\*\*([\s\S]*?)\*\//g)]
    .map(([, docstring = ""]) => docstring.replace(/^ *\* ?/gm, ""))
    .map((text) => text.slice(text.search(/^@example/m) >>> 0))
    .join("\n")

/** Every `@example` of a docstring. */
export const examples: ReadonlyArray<Snippet> = readdirSync(join(root, "src"), {
  recursive: true,
  encoding: "utf8"
})
  .filter((name) => name.endsWith(".ts"))
  .sort()
  .flatMap((name) => snippetsIn(`src/${name}`, examplesOf(textOf(`src/${name}`))))

export const snippets: ReadonlyArray<Snippet> = [...shown, ...examples]
