import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"

interface Bundled {
  readonly name: string
  readonly version: string
  readonly license: string
  /** The files in which the package gives its licence. */
  readonly texts: ReadonlyArray<string>
}

const packageOf = (folder: string): Bundled => {
  const { license, name, version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))
  const files = readdirSync(folder).filter((file) => /^(licen[cs]e|copying|notice)/i.test(file))
  if (typeof license !== "string" || files.length === 0)
    throw new Error(`${folder} gives no licence: it cannot be put into this package`)
  const texts = files.sort().map((file) => readFileSync(join(folder, file), "utf8").trim())
  return { name, version, license, texts }
}

/** The licences of the packages that these files are of; files of no package are left out. */
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
