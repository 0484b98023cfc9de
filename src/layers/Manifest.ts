import { readFileSync } from "node:fs"
import { Schema } from "effect"
import type { Package } from "../http/playground/Playground.js"

const Manifest = Schema.parseJson(
  Schema.Struct({
    name: Schema.String,
    version: Schema.String,
    repository: Schema.optional(Schema.Union(Schema.String, Schema.Struct({ url: Schema.String })))
  })
)

// From src/layers and from dist/layers alike, the package's own manifest lies two folders up.
const manifest = Schema.decodeSync(Manifest)(
  readFileSync(new URL("../../package.json", import.meta.url), "utf8")
)

const { repository } = manifest

/** The version of this package. */
export const version = manifest.version

/** The name of this package, and how it is installed: from its repository once it has one, else by name. */
export const own: Package = {
  name: manifest.name,
  install: `npm install ${repository === undefined ? manifest.name : typeof repository === "string" ? repository : repository.url}`
}
