import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"

interface Bundled {
  readonly name: string
  readonly version: string
  readonly license: string
  /** The contents of the licence files of the package. */
  readonly texts: ReadonlyArray<string>
}

const packageOf = (folder: string): Bundled => {
  const { license, name, version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))
  const files = readdirSync(folder).filter((file) => /^(licen[cs]e|copying|notice)/i.test(file))
  if (typeof license !== "string" || files.length === 0)
    throw new Error(`${folder} has no licence: it cannot be bundled`)
  const texts = files.sort().map((file) => readFileSync(join(folder, file), "utf8").trim())
  return { name, version, license, texts }
}

/** The licences of the packages of these files. Files outside of packages are ignored. */
export const notices = (about: string, files: ReadonlyArray<string>): string => {
  const folders = files
    .map((file) => /^.*[\\/]node_modules[\\/](@[^\\/]+[\\/])?[^\\/]+/.exec(file)?.[0])
    .filter((folder) => folder !== undefined)
  const packages = [...new Set(folders)].map(packageOf).sort((a, b) => (a.name < b.name ? -1 : 1))
  const sections = packages.flatMap(({ license, name, texts, version }) => [
    `## ${name} ${version} (${license})`,
    ...texts.map((text) => `\`\`\`text\n${text}\n\`\`\``)
  ])
  return `${["# Third-party packages", about, ...sections].join("\n\n")}\n`
}
