import { readFileSync } from "node:fs"
import { assert, it } from "@effect/vitest"

interface Locked {
  readonly link?: boolean
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

const locked = (file: string): Readonly<Record<string, Locked>> =>
  JSON.parse(readFileSync(new URL(`../${file}`, import.meta.url), "utf8")).packages

/** The folders in which Node looks for what a package imports, its own first. */
const foldersAbove = (path: string): ReadonlyArray<string> => {
  const parts = path === "" ? [] : path.split("/")
  return Array.from(
    { length: parts.length + 1 },
    (_, up) => `${[...parts.slice(0, parts.length - up), "node_modules"].join("/")}/`
  )
}

// Without the packages of other machines, which npm leaves out where it cannot reach them, `npm ci` refuses the file.
it.each(["package-lock.json", "build/mutation/package-lock.json"])("%s has every package", (file) => {
  const packages = locked(file)
  const missing = Object.entries(packages)
    .filter(([, { link }]) => link !== true)
    .flatMap(([path, { dependencies, optionalDependencies }]) =>
      Object.keys({ ...dependencies, ...optionalDependencies })
        .filter((name) => !foldersAbove(path).some((folder) => `${folder}${name}` in packages))
        .map((name) => `${path} needs ${name}`)
    )
  assert.isAbove(Object.keys(packages).length, 100)
  assert.deepStrictEqual(missing, [])
})
