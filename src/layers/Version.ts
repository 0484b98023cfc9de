import { readFileSync } from "node:fs"

/** The manifest of this package, which is two directories above src/layers and dist/layers. */
export const manifest: { readonly version: string } = JSON.parse(
  readFileSync(new URL("../../package.json", import.meta.url), "utf8")
)

/** The version of this package. */
export const version = manifest.version
