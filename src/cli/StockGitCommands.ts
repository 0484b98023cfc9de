import { Args, Command, Options } from "@effect/cli"
import { FileSystem, Path } from "@effect/platform"
import { Console, Effect, Option } from "effect"
import { ConflictError, ValidationError } from "../domain/errors/StoreError.js"
import { textOption } from "./CommandOptions.js"
import { git } from "./GitClone.js"
import { mergeFiles, versionIn } from "./MergeFiles.js"
import { rebuildDerivedFiles } from "./RebuildDerivedFiles.js"
import { mergeRulesFor } from "./WorkTreeMergeRules.js"

const fileArgument = (name: string, description: string) =>
  Args.text({ name }).pipe(Args.withDescription(description))

const cloneOption = Options.text("clone").pipe(
  Options.withDescription("The work tree of a clone"),
  Options.withDefault(".")
)
const rootOption = Options.text("root").pipe(
  Options.withDescription("The directory of the collections, empty for the repository's root"),
  Options.withDefault("data")
)

export const mergeDriver = Command.make(
  "merge-driver",
  {
    base: fileArgument("base", "The common ancestor: %O"),
    ours: fileArgument("ours", "Our version, which the result replaces: %A"),
    theirs: fileArgument("theirs", "Their version: %B"),
    path: Args.text({ name: "path" }).pipe(
      Args.withDescription("The path of the file in the repository: %P"),
      Args.optional
    )
  },
  ({ base, ours, path, theirs }) =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const sides = yield* Effect.all({
        base: files.readFile(base),
        ours: files.readFile(ours),
        theirs: files.readFile(theirs)
      })
      const name = Option.getOrUndefined(path)
      const rules = yield* mergeRulesFor(name ?? "")
      const merged = mergeFiles({ ...sides, base: versionIn(sides.base) }, name, rules)
      yield* files.writeFile(ours, merged.content)
      if (merged.isClean) return
      if (merged.problem !== undefined) {
        return yield* new ValidationError({
          operation: "merge-driver",
          message: `${name ?? ours}: the merged document ${merged.problem}`,
          hint: "make it smaller on one of the branches, then merge"
        })
      }
      const places = merged.conflicts.map(({ path }) => path.join(".")).join(", ")
      return yield* new ConflictError({
        operation: "merge-driver",
        message: `${name ?? ours}: both sides changed ${places === "" ? "the same lines" : places}`,
        hint: "edit the file, and git add it",
        conflicts: []
      })
    })
).pipe(
  Command.withDescription(
    "Merge three versions of a document; git merge and git rebase call this (see init)."
  )
)

export const resolve = Command.make("resolve", { clone: cloneOption, root: rootOption }, ({ clone, root }) =>
  Effect.flatMap(rebuildDerivedFiles(clone, root), (collections) =>
    Console.log(
      collections.length === 0
        ? "There are no indexes and manifests to rebuild."
        : `Indexes and manifests of ${collections.join(", ")} are rebuilt and staged.`
    )
  )
).pipe(
  Command.withDescription(
    "Resolve the conflicts of git merge in _index and _manifest of a clone: rebuild these files from the documents, and stage them."
  )
)

/** A pattern of gitattributes(5): special characters are escaped, and a pattern with spaces is quoted. */
const patternOf = (root: string): string => {
  const escaped = root.replace(/[\\*?[\]]/g, "\\$&").replace(/^!/, "\\!")
  const pattern = `${root === "" ? "" : `${escaped}/`}**/*.json`
  return /[\s"]|^#/.test(pattern) ? JSON.stringify(pattern) : pattern
}

const attributesOf = (root: string): ReadonlyArray<string> => [`${patternOf(root)} merge=chainstore`]

export const init = Command.make(
  "init",
  {
    clone: cloneOption,
    root: rootOption,
    gitAttributes: Options.boolean("git-attributes").pipe(
      Options.withDescription("Write .gitattributes, so that Git merges documents by field")
    ),
    config: Options.boolean("config").pipe(
      Options.withDescription("Run the git config lines too, instead of printing them")
    ),
    program: textOption("program", "The command by which Git runs this program; default: chainstore")
  },
  ({ clone, config, gitAttributes, program, root }) =>
    Effect.gen(function* () {
      if (!gitAttributes) {
        return yield* new ValidationError({
          operation: "init",
          message: "there is nothing to set up",
          hint: "give --git-attributes"
        })
      }
      const files = yield* FileSystem.FileSystem
      const { join } = yield* Path.Path
      const top = (yield* git(clone, "rev-parse", "--show-toplevel")).trim()
      const path = join(top, ".gitattributes")
      const before = (yield* files.exists(path)) ? yield* files.readFileString(path) : ""
      const lines = new Set(before.split(/\r?\n/))
      const missing = attributesOf(root).filter((line) => !lines.has(line))
      const start = before === "" || before.endsWith("\n") ? before : `${before}\n`
      if (missing.length > 0) yield* files.writeFileString(path, `${start}${missing.join("\n")}\n`)
      const name = Option.getOrElse(program, () => "chainstore")
      const settings = [
        ["merge.chainstore.name", "documents by field"],
        ["merge.chainstore.driver", `${name} merge-driver %O %A %B %P`]
      ] as const
      yield* Console.log(`${path} ${missing.length > 0 ? "is written: commit it" : "has it already"}.`)
      for (const [key, value] of settings) {
        if (config) yield* git(clone, "config", key, value)
        else yield* Console.log(`git config ${key} "${value}"`)
      }
    })
).pipe(Command.withDescription("Set up a clone, so that git merge and git rebase merge documents by field."))
