import { createRequire } from "node:module"

/* Serves the repositories of a directory by node-git-server. Arguments: the directory and the port. */

// Its types import packages that it does not depend on.
const { Git } = createRequire(import.meta.url)("node-git-server") as {
  readonly Git: new (
    directory: string,
    options: { readonly autoCreate: boolean }
  ) => { readonly listen: (port: number, options: { readonly type: "http" }, done: () => void) => void }
}

// A client that goes away ends the process otherwise.
process.on("uncaughtException", () => {})

const [directory = "", port = ""] = process.argv.slice(2)
new Git(directory, { autoCreate: false }).listen(Number(port), { type: "http" }, () => {})
