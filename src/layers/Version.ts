import { readFileSync } from "node:fs"

/** The package's own manifest: from src/layers and from dist/layers alike it lies two folders up. */
export const manifest: { readonly version: string } = JSON.parse(
  readFileSync(new URL("../../package.json", import.meta.url), "utf8")
)

/** The version of this package. */
export const version = manifest.version
