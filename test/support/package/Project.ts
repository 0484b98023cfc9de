import { execFile, spawn } from "node:child_process"
import { once } from "node:events"
import {
  copyFileSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"

const root = fileURLToPath(new URL("../../..", import.meta.url))

/** The package's own manifest. */
export const manifest: {
  readonly version: string
  readonly exports: Readonly<Record<string, unknown>>
  readonly dependencies: Readonly<Record<string, string>>
  readonly peerDependencies: Readonly<Record<string, string>>
  readonly devDependencies: Readonly<Record<string, string>>
} = JSON.parse(readFileSync(join(root, "package.json"), "utf8"))

/** What a program wrote, and how it ended. */
export interface Ended {
  readonly code: number
  readonly out: string
  readonly errors: string
}

/** The environment without npm's own variables: this runs below `npm run`, which would speak for the root. */
const env = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(npm_|NODE_OPTIONS|VITEST|NODE_ENV)/i.test(name))
)

/** Runs a program as somebody would at a prompt of their own. */
export const ended = (file: string, args: ReadonlyArray<string>, cwd: string) =>
  new Promise<Ended>((resolve) => {
    execFile(file, [...args], { cwd, env, maxBuffer: 1 << 26 }, (error, out, errors) =>
      resolve({ code: error === null ? 0 : typeof error.code === "number" ? error.code : 1, out, errors })
    )
  })

const must = async (file: string, args: ReadonlyArray<string>, cwd: string) => {
  const { code, errors, out } = await ended(file, args, cwd)
  if (code !== 0) throw new Error(`${file} ${args.join(" ")} ended with ${code}\n${out}${errors}`)
  return out
}

/** Builds the library and packs it as it would be published; the console and the reference are there from the installation. */
export const pack = async (directory: string): Promise<string> => {
  const built = join(root, "dist")
  // What an earlier build made of sources that are gone would be packed with the rest.
  for (const name of readdirSync(built))
    if (name !== "console" && name !== "reference")
      rmSync(join(built, name), { recursive: true, force: true })
  await must("npm", ["run", "build:library"], root)
  const out = await must("npm", ["pack", "--ignore-scripts", "--json", "--pack-destination", directory], root)
  return join(directory, JSON.parse(out)[0].filename)
}

/** What lies in a packed package. */
export const unpack = async (tarball: string, directory: string): Promise<string> => {
  await must("tar", ["xzf", tarball, "-C", directory], directory)
  return join(directory, "package")
}

/** The bytes of a package's own files. */
const bytesOf = (directory: string): number =>
  readdirSync(directory, { withFileTypes: true })
    .filter(({ name }) => name !== "node_modules")
    .map((entry) => {
      const path = join(directory, entry.name)
      return entry.isDirectory() ? bytesOf(path) : lstatSync(path).size
    })
    .reduce((sum, bytes) => sum + bytes, 0)

/** An empty project of somebody else, and what was installed into it. */
export class Project {
  readonly directory = mkdtempSync(join(tmpdir(), "project-"))

  constructor() {
    this.write("package.json", JSON.stringify({ private: true, type: "module" }))
  }

  get #modules() {
    return pathToFileURL(join(this.directory, "node_modules/"))
  }

  write(name: string, text: string) {
    writeFileSync(join(this.directory, name), text)
  }

  copy(name: string) {
    copyFileSync(fileURLToPath(new URL(name, import.meta.url)), join(this.directory, name))
  }

  install(...packages: ReadonlyArray<string>) {
    const quiet = ["--prefer-offline", "--ignore-scripts", "--no-audit", "--no-fund"]
    return must("npm", ["install", ...quiet, ...packages], this.directory)
  }

  /** What a compiler finds wrong in our own files or in those of the project; it writes the programs all the same. */
  async compile(
    compiler: string,
    lib: string,
    ...files: ReadonlyArray<string>
  ): Promise<ReadonlyArray<string>> {
    const strict = ["--strict", "--exactOptionalPropertyTypes", "--skipLibCheck", "false"]
    const target = ["--module", "nodenext", "--target", "es2022", "--lib", lib, "--types", "node"]
    const tsc = fileURLToPath(new URL("bin/tsc", new URL(`${compiler}/`, this.#modules)))
    const { out } = await this.node(tsc, ...strict, ...target, ...files)
    const errors = out.split("\n").filter((line) => line.includes("error TS"))
    return errors.filter((line) => !line.startsWith("node_modules/") || line.includes("/chainstore/"))
  }

  node(...args: ReadonlyArray<string>) {
    return ended(process.execPath, args, this.directory)
  }

  /** What was installed: the name of each package, and how many bytes its files have. */
  packages(): ReadonlyMap<string, number> {
    const lock = JSON.parse(readFileSync(join(this.directory, "node_modules/.package-lock.json"), "utf8"))
    return new Map(
      Object.keys(lock.packages).map((path) => [
        path.replace(/^.*node_modules\//, ""),
        bytesOf(join(this.directory, path))
      ])
    )
  }

  /** A service that the package's command starts, and its address; `stop` tells it to end and gives its exit code. */
  async service(
    command: "serve" | "host",
    [program, ...args]: readonly [string, ...Array<string>] = ["node_modules/.bin/chainstore"]
  ) {
    const options = { cwd: this.directory, env: { ...env, PORT: "0" } }
    const child = spawn(program, [...args, command], options)
    const exit = once(child, "close")
    let said = ""
    const url = await new Promise<string>((resolve, reject) => {
      const hear = (text: Buffer) => {
        said += text
        const found = /^Chainstore is listening on (\S+)$/m.exec(said)?.[1]
        if (found !== undefined) resolve(found)
      }
      child.stdout.on("data", hear)
      child.stderr.on("data", hear)
      void exit.then(() => reject(new Error(said)))
    })
    const stop = async () => {
      child.kill("SIGTERM")
      return (await exit)[0]
    }
    return { url, stop }
  }

  /** Where a package lies: once where all share it. */
  copiesOf(name: string): ReadonlyArray<string> {
    return readdirSync(this.directory, { recursive: true, encoding: "utf8" }).filter((path) =>
      path.endsWith(`node_modules/${name}/package.json`)
    )
  }

  remove() {
    rmSync(this.directory, { recursive: true, force: true })
  }
}
