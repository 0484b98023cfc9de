// Bundles packages into `dist`, so that users of this package do not install them: all packages of the mains, and for
// the library the exports that `src/vendor` names.
import { readdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { type BuildOptions, build } from "esbuild"
import { notices } from "./notices.js"

const root = fileURLToPath(new URL("..", import.meta.url))
const at = (path: string) => join(root, path)

// No source maps, which would double the size of the mains. The names and lines of the code stay, and a comment names the
// file of each part; only its syntax is shortened, which saves a fifteenth.
const shared = {
  absWorkingDir: root,
  bundle: true,
  splitting: true,
  format: "esm",
  platform: "node",
  target: "node20",
  metafile: true,
  minifySyntax: true,
  logLevel: "warning",
  // Bundled CommonJS code calls `require` for Node's modules.
  banner: {
    js: 'import { createRequire as createRequire$ } from "node:module"; const require = createRequire$(import.meta.url);'
  }
} satisfies BuildOptions

const sourcesIn = (folder: string) => readdirSync(at(folder)).map((name) => at(join(folder, name)))

// Removes the output of an earlier build, and the output of the compiler for `src/vendor`.
rmSync(at("dist/bin"), { recursive: true, force: true })
for (const name of readdirSync(at("dist/vendor")))
  if (/\.js(\.map)?$/.test(name)) rmSync(at(join("dist/vendor", name)))

const mains = await build({
  ...shared,
  entryPoints: sourcesIn("src/layers/bin"),
  outdir: at("dist/bin")
})

const vendored = await build({
  ...shared,
  entryPoints: sourcesIn("src/vendor"),
  outdir: at("dist/vendor"),
  external: ["effect", "@effect/platform"]
})

const bundled = [mains, vendored]
  .flatMap(({ metafile }) => Object.values(metafile.outputs))
  .flatMap(({ inputs }) => Object.entries(inputs).filter(([, { bytesInOutput }]) => bytesInOutput > 0))
  .map(([file]) => at(file))

writeFileSync(
  at("dist/THIRD-PARTY.md"),
  notices(
    "The files in `bin` and `vendor` contain these packages. Those of the console are in `console/THIRD-PARTY.md`.",
    bundled
  )
)
