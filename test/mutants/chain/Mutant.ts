import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, relative } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { build } from "esbuild"

/** A small change of our own chains that breaks one sentence of docs/chain.md. */
export interface Mutant {
  readonly name: string
  /** The sentence it breaks, as docs/chain.md has it. */
  readonly breaks: string
  readonly edits: ReadonlyArray<readonly [file: string, from: string, to: string]>
}

export const mutant = (
  name: string,
  breaks: string,
  ...edits: Mutant["edits"] extends ReadonlyArray<infer Edit> ? Array<Edit> : never
): Mutant => ({ name, breaks, edits })

const root = fileURLToPath(new URL("../../..", import.meta.url))

/** The source of one file with the edits made; every edit has to find its text exactly once. */
const edited = (file: string, edits: Mutant["edits"]) =>
  edits
    .filter(([edit]) => `src/chain/${edit}` === file)
    .reduce(
      (source, [, from, to]) => {
        const parts = source.split(from)
        if (parts.length !== 2)
          throw new Error(`${file} has ${parts.length - 1} places that read ${from}: rewrite the mutant`)
        return parts.join(to)
      },
      readFileSync(join(root, file), "utf8")
    )

/** The published laws and generators of chains, bundled with a mutated `src/chain`. */
export const load = async ({
  edits,
  name
}: Pick<Mutant, "edits" | "name">): Promise<typeof import("../../../src/testing/index.js")> => {
  const folder = mkdtempSync(join(tmpdir(), "chain-mutant-"))
  try {
    const outfile = join(folder, "laws.mjs")
    await build({
      stdin: {
        contents: `export * as ChainArbitrary from "./src/testing/ChainArbitrary.js"
export * as ChainLaws from "./src/testing/ChainLaws.js"`,
        resolveDir: root,
        sourcefile: `${name}.ts`
      },
      bundle: true,
      format: "esm",
      platform: "node",
      outfile,
      logLevel: "error",
      plugins: [
        {
          name: "mutant",
          setup(context) {
            context.onResolve({ filter: /^effect(\/|$)/ }, async ({ kind, path, pluginData }) => {
              if (pluginData === "resolving") return undefined
              const found = await context.resolve(path, { kind, resolveDir: root, pluginData: "resolving" })
              return { path: pathToFileURL(found.path).href, external: true }
            })
            context.onLoad({ filter: /[\\/]src[\\/]chain[\\/]/ }, ({ path }) => ({
              contents: edited(relative(root, path).replaceAll("\\", "/"), edits),
              loader: "ts"
            }))
          }
        }
      ]
    })
    return await import(/* @vite-ignore */ pathToFileURL(outfile).href)
  } finally {
    rmSync(folder, { recursive: true })
  }
}
