import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("../../..", import.meta.url))

/** A piece of a program in a page. */
export interface Snippet {
  /** The page and the place among its snippets, such as `docs/store.md 2`. */
  readonly name: string
  readonly language: "js" | "ts"
  readonly code: string
}

/** Every piece of TypeScript and JavaScript that the pages show. */
export const snippets: ReadonlyArray<Snippet> = [
  "README.md",
  ...readdirSync(join(root, "docs"))
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`)
].flatMap((page) =>
  [...readFileSync(join(root, page), "utf8").matchAll(/```(js|ts)\n([\s\S]*?)```/g)].map(
    ([, language, code = ""], index): Snippet => ({
      name: `${page} ${index + 1}`,
      language: language === "js" ? "js" : "ts",
      code
    })
  )
)
