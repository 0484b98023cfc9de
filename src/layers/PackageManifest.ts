import { Schema } from "effect"
import type { Package } from "../http/playground/Playground.js"
import { manifest as written } from "./Version.js"

const Manifest = Schema.Struct({
  name: Schema.String,
  repository: Schema.optional(Schema.Union(Schema.String, Schema.Struct({ url: Schema.String })))
})

const manifest = Schema.decodeUnknownSync(Manifest)(written)

const { repository } = manifest

/** The name of this package, and its install command: from its repository if the manifest has one, otherwise by name. */
export const ownPackage: Package = {
  name: manifest.name,
  install: `npm install ${repository === undefined ? manifest.name : typeof repository === "string" ? repository : repository.url}`
}
