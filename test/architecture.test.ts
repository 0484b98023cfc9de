import { existsSync, readdirSync, readFileSync } from "node:fs"
import { basename, dirname, join, normalize, sep } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"

const root = fileURLToPath(new URL("..", import.meta.url))

const filesUnder = (folder: string): ReadonlyArray<string> =>
  readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length))

const sources = filesUnder("src")
const texts = new Map(sources.map((file) => [file, readFileSync(join(root, file), "utf8")]))

interface Import {
  readonly from: string
  readonly to: string
  readonly typeOnly: boolean
}

const statement =
  /(?:^|\n)\s*(?:import|export)\s+(type\s+)?(?:[^"';]*?\sfrom\s+)?"([^"]+)"|\bimport\("([^"]+)"\)/g

const importsOf = (file: string): ReadonlyArray<Import> =>
  Array.from(texts.get(file)!.matchAll(statement), ([, type, named, dynamic]) => ({
    from: file,
    to: named ?? dynamic ?? "",
    typeOnly: type !== undefined
  }))

const all = sources.flatMap(importsOf)

/** The source file that a relative import means. */
const resolved = ({ from, to }: Import): string | undefined => {
  if (!to.startsWith(".")) return undefined
  const path = normalize(join(dirname(from), to)).replace(/\.jsx?$/, "")
  return [`${path}.ts`, `${path}.tsx`, join(path, "index.ts")].find((candidate) => texts.has(candidate))
}

const folderOf = (file: string): string => file.split(sep)[1]!

const mayImport: Readonly<Record<string, ReadonlyArray<string>>> = {
  domain: [],
  vendor: [],
  git: ["domain"],
  chain: ["domain"],
  store: ["domain", "git"],
  codec: ["domain", "chain", "store"],
  http: ["domain", "git", "chain", "store", "vendor"],
  cli: ["domain", "git", "chain", "store"],
  testing: ["domain", "git", "chain", "store"],
  layers: ["domain", "git", "chain", "store", "http", "cli", "testing", "vendor"],
  console: ["domain", "chain", "store", "http"]
}

/** The build of the console runs in Node. */
const isBuild = (file: string) => /vite\.config\.ts$|[\\/]build[\\/]/.test(file)

describe("folders", () => {
  it("every file is in a known folder, or is the package's index", () => {
    const strays = sources.filter(
      (file) => mayImport[folderOf(file)] === undefined && file !== join("src", "index.ts")
    )
    assert.deepStrictEqual(strays, [])
  })

  it("know only the folders to their left", () => {
    const wrong = all.flatMap((one) => {
      const target = resolved(one)
      if (target === undefined || mayImport[folderOf(one.from)] === undefined) return []
      const [folder, other] = [folderOf(one.from), folderOf(target)]
      return folder === other || mayImport[folder]!.includes(other) ? [] : [`${one.from} -> ${target}`]
    })
    assert.deepStrictEqual(wrong, [])
  })

  it("resolve every relative import", () => {
    const isThere = ({ from, to }: Import) =>
      existsSync(join(root, dirname(from), to.replace(/\.js$/, ".ts")))
    const lost = all.filter(
      (one) => /^\.{1,2}\/.*\.jsx?$/.test(one.to) && resolved(one) === undefined && !isThere(one)
    )
    assert.deepStrictEqual(
      lost.map(({ from, to }) => `${from} -> ${to}`),
      []
    )
  })

  it("import the package by relative paths, never by its own name", () => {
    assert.deepStrictEqual(
      all.filter(({ to }) => /^chainstore(\/|$)/.test(to)).map(({ from }) => from),
      []
    )
  })

  it("the console sees of http only what describes it", () => {
    const wrong = all
      .filter(({ from }) => folderOf(from) === "console" && !isBuild(from))
      .map((one) => ({ from: one.from, target: resolved(one) }))
      .filter(
        ({ target }) => target !== undefined && folderOf(target) === "http" && basename(target) !== "Api.ts"
      )
    assert.deepStrictEqual(wrong, [])
  })

  it("the library imports through vendor what the build puts into it", () => {
    const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"))
    const installed = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies })
    const wrong = all.filter(
      ({ from, to, typeOnly }) =>
        !typeOnly &&
        !["cli", "console", "vendor"].includes(folderOf(from)) &&
        !/^(\.|node:)/.test(to) &&
        !installed.some((name) => to === name || to.startsWith(`${name}/`))
    )
    assert.deepStrictEqual(
      wrong.map(({ from, to }) => `${from} -> ${to}`),
      []
    )
  })

  it("domain imports effect alone", () => {
    const wrong = all.filter(
      ({ from, to }) => folderOf(from) === "domain" && !to.startsWith(".") && !/^effect(\/|$)/.test(to)
    )
    assert.deepStrictEqual(
      wrong.map(({ from, to }) => `${from} -> ${to}`),
      []
    )
  })
})

/** Every circle of imports, by what `nameOf` makes of a file; files of one name are one. */
const circlesOf = (
  nameOf: (file: string) => string | undefined,
  among: ReadonlyArray<Import> = all
): ReadonlyArray<string> => {
  const edges = new Map<string, Set<string>>()
  for (const one of among) {
    const target = resolved(one)
    const [from, to] = [nameOf(one.from), target === undefined ? undefined : nameOf(target)]
    if (from === undefined || to === undefined || (from === to && one.from !== target)) continue
    edges.set(from, (edges.get(from) ?? new Set()).add(to))
  }
  const done = new Set<string>()
  const circles: Array<string> = []
  const visit = (name: string, path: ReadonlyArray<string>): void => {
    const at = path.indexOf(name)
    if (at !== -1) {
      circles.push([...path.slice(at), name].join(" -> "))
      return
    }
    if (done.has(name)) return
    for (const next of edges.get(name) ?? []) visit(next, [...path, name])
    done.add(name)
  }
  for (const name of edges.keys()) visit(name, [])
  return circles
}

describe("cycles", () => {
  it("there are none, of types neither", () => {
    assert.deepStrictEqual(
      circlesOf((file) => file),
      []
    )
  })

  for (const folder of ["console", "domain", "git", "http", "testing"]) {
    it(`the folders inside ${folder} have no circle`, () => {
      assert.deepStrictEqual(
        circlesOf((file) => (folderOf(file) === folder ? dirname(file) : undefined)),
        []
      )
    })
  }

  it("the folders of the store's algorithms have no circle", () => {
    const algorithms = join("src", "store", "internal")
    assert.deepStrictEqual(
      circlesOf((file) => (dirname(file).startsWith(algorithms) ? dirname(file) : undefined)),
      []
    )
  })

  // The contracts of the store's public modules are types, which every folder may name.
  it("the folders inside store have no circle of what runs", () => {
    const faces = new Set(["Store.ts", "index.ts"].map((name) => join("src", "store", name)))
    const nameOf = (file: string) =>
      folderOf(file) !== "store" ? undefined : faces.has(file) ? "the store's faces" : dirname(file)
    const running = all.filter(({ typeOnly }) => !typeOnly)
    assert.deepStrictEqual(circlesOf(nameOf, running), [])
  })

  it("the store's public modules but its faces hold contracts: they run nothing internal", () => {
    const isContract = (file: string) =>
      dirname(file) === join("src", "store") && !["Store.ts", "index.ts"].includes(basename(file))
    const wrong = all.filter(
      (one) => !one.typeOnly && isContract(one.from) && (resolved(one) ?? "").includes(`${sep}internal${sep}`)
    )
    assert.deepStrictEqual(
      wrong.map(({ from, to }) => `${from} -> ${to}`),
      []
    )
  })
})

describe("names", () => {
  it("no file is named after nothing", () => {
    const wrong = sources.filter((file) =>
      /^(utils?|helpers?|types|common|misc)\.tsx?$/i.test(basename(file))
    )
    assert.deepStrictEqual(wrong, [])
  })
})

describe("the browser", () => {
  const isNodeOnly = (file: string) =>
    file.startsWith(join("src", "store", "remote", "local") + sep) ||
    file.startsWith(join("src", "store", "remote", "wire") + sep) ||
    file.startsWith(join("src", "store", "local") + sep) ||
    file.startsWith(join("src", "git", "clone") + sep) ||
    file.startsWith(join("src", "git", "disk") + sep)
  const { browser } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"))
  /** Bundlers for browsers put another module there. */
  const isLeftOut = (file: string) => `./${file.split(sep).join("/")}` in browser
  const isCarried = (file: string) =>
    ["domain", "git", "chain", "codec", "store", "console"].includes(folderOf(file)) &&
    !isNodeOnly(file) &&
    !isLeftOut(file)
  it("carries no Node module", () => {
    const wrong = all.filter(
      ({ from, to, typeOnly }) =>
        isCarried(from) &&
        !isBuild(from) &&
        !typeOnly &&
        (to.startsWith("node:") || to.startsWith("@effect/platform-node"))
    )
    assert.deepStrictEqual(
      wrong.map(({ from, to }) => `${from} -> ${to}`),
      []
    )
  })

  it("reaches no Node-only folder", () => {
    const wrong = all.filter((one) => {
      const target = resolved(one)
      return (
        target !== undefined &&
        isCarried(one.from) &&
        !isBuild(one.from) &&
        !one.typeOnly &&
        isNodeOnly(target)
      )
    })
    assert.deepStrictEqual(
      wrong.map(({ from, to }) => `${from} -> ${to}`),
      []
    )
  })

  it("takes Effect's modules one by one", () => {
    const wrong = all.filter(
      ({ from, to, typeOnly }) =>
        isCarried(from) && !typeOnly && (to === "effect" || to === "@effect/platform")
    )
    assert.deepStrictEqual(
      wrong.map(({ from, to }) => `${from} -> ${to}`),
      []
    )
  })
})
