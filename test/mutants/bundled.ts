import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, relative } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { build } from "esbuild"

/** A small change of our own sources that breaks one sentence of the documentation. */
export interface Mutant {
  readonly name: string
  /** The sentence it breaks, as the documentation has it. */
  readonly breaks: string
  readonly edits: ReadonlyArray<readonly [file: string, from: string, to: string]>
}

export const mutant = (
  name: string,
  breaks: string,
  ...edits: Mutant["edits"] extends ReadonlyArray<infer Edit> ? Array<Edit> : never
): Mutant => ({ name, breaks, edits })

export const root = fileURLToPath(new URL("../..", import.meta.url))

/** The source of one file with the edits made; every edit has to find its text exactly once. */
export const edited = (file: string, folder: string, edits: Mutant["edits"]) =>
  edits
    .filter(([edit]) => `${folder}/${edit}` === file)
    .reduce(
      (source, [, from, to]) => {
        const parts = source.split(from)
        if (parts.length !== 2)
          throw new Error(`${file} has ${parts.length - 1} places that read ${from}: rewrite the mutant`)
        return parts.join(to)
      },
      readFileSync(join(root, file), "utf8")
    )

/** What no longer finds its place in our sources. */
export const misplaced = (mutants: ReadonlyArray<Mutant>, folder: string): ReadonlyArray<string> =>
  mutants.flatMap(({ edits, name }) =>
    [...new Set(edits.map(([file]) => `${folder}/${file}`))].flatMap((file) => {
      try {
        edited(file, folder, edits)
        return []
      } catch (error) {
        return [`${name}: ${error}`]
      }
    })
  )

const resolved = new Map<string, { readonly path: string; readonly external: boolean }>()

/** Bundles `contents` into `outfile` with the edits made in the files below `folder`. Effect stays outside the bundle. */
export const bundleTo = async (
  outfile: string,
  { edits, name }: Pick<Mutant, "edits" | "name">,
  folder: string,
  contents: string
): Promise<void> => {
  await build({
    stdin: { contents, resolveDir: root, sourcefile: `${name}.ts` },
    bundle: true,
    format: "esm",
    platform: "node",
    outfile,
    logLevel: "error",
    plugins: [
      {
        name: "mutant",
        setup(context) {
          context.onResolve(
            { filter: /^(effect|@effect\/platform)(\/|$)/ },
            async ({ kind, path, pluginData }) => {
              if (pluginData === "resolving") return undefined
              const before = resolved.get(path)
              if (before !== undefined) return before
              const found = await context.resolve(path, { kind, resolveDir: root, pluginData: "resolving" })
              const external = { path: pathToFileURL(found.path).href, external: true }
              resolved.set(path, external)
              return external
            }
          )
          for (const file of new Set(edits.map(([edit]) => `${folder}/${edit}`))) {
            context.onLoad(
              { filter: new RegExp(`[\\\\/]${file.replaceAll("/", "[\\\\/]")}$`) },
              ({ path }) =>
                relative(root, path).replaceAll("\\", "/") === file
                  ? { contents: edited(file, folder, edits), loader: "ts" }
                  : undefined
            )
          }
        }
      }
    ]
  })
}

/**
 * A module that imports by Node itself. Vitest would add a source map of 4 MB to the bundle, and its regular expression for source maps
 * exceeds the stack on it when the stack of an error is read.
 */
const native = "data:text/javascript,export const importByNode = (url) => import(url)"

/** The exports of `contents`, bundled with the edits made in the files below `folder`. Effect is shared with the test. */
export const bundled = async <Module>(
  mutant: Pick<Mutant, "edits" | "name">,
  folder: string,
  contents: string
): Promise<Module> => {
  const directory = mkdtempSync(join(tmpdir(), "mutant-"))
  try {
    const outfile = join(directory, "laws.mjs")
    await bundleTo(outfile, mutant, folder, contents)
    const { importByNode } = await import(/* @vite-ignore */ native)
    return await importByNode(pathToFileURL(outfile).href)
  } finally {
    rmSync(directory, { recursive: true })
  }
}
