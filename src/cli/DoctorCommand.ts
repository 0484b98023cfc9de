import { Command, Options } from "@effect/cli"
import { Command as Process } from "@effect/platform"
import { Data, Effect, Option } from "effect"
import type { Finding } from "../store/Doctor.js"
import { Store } from "../store/Store.js"
import type { StoreService } from "../store/StoreService.js"
import { jsonOption, print } from "./CommandOutput.js"
import { type Connection, connectionOf, connectionOptions, StoreOpener } from "./Connection.js"
import { withProgress } from "./Progress.js"

const atLeast = (version: string, least: ReadonlyArray<number>) => {
  const numbers = version.split(".").map(Number)
  const differing = least.findIndex((number, index) => numbers[index] !== number)
  return differing === -1 || numbers[differing]! > least[differing]!
}

const node: Finding = atLeast(process.versions.node, [20, 19])
  ? { severity: "ok", code: "node", message: `Node ${process.versions.node}` }
  : {
      severity: "error",
      code: "node",
      message: `Node ${process.versions.node} is too old`,
      hint: "install Node 20.19 or newer"
    }

const git = Process.string(Process.make("git", "--version")).pipe(
  Effect.map((text): Finding => {
    const version = /(\d+(?:\.\d+)+)/.exec(text)?.[1] ?? "0"
    return atLeast(version, [2, 39])
      ? { severity: "ok", code: "git", message: `git ${version}` }
      : {
          severity: "error",
          code: "git",
          message: `git ${version} is too old`,
          hint: "install git 2.39 or newer"
        }
  }),
  Effect.orElseSucceed(
    (): Finding => ({
      severity: "error",
      code: "git",
      message: "git is not found",
      hint: "install git 2.39 or newer: repositories on this machine need it"
    })
  )
)

const marks = { ok: "ok     ", warning: "warning", error: "ERROR  " }

const lines = (findings: ReadonlyArray<Finding>) =>
  findings
    .flatMap(({ collection, hint, ids, message, severity }) => [
      `${marks[severity]}  ${collection === undefined || message.includes(collection) ? "" : `${collection}: `}${message}`,
      ...(ids === undefined || ids.length === 0
        ? []
        : [`         ${ids.slice(0, 10).join(", ")}${ids.length > 10 ? ", ..." : ""}`]),
      ...(hint === undefined ? [] : [`         ${hint}`])
    ])
    .join("\n")

const deepOption = Options.boolean("deep").pipe(
  Options.withDescription("Read every document, and compare indexes and manifests with a rebuild")
)

/** Runs the doctor of a store, and shows the number of documents that were read. */
const examine = (store: StoreService, deep: boolean) => {
  const read = new Map<string, number>()
  return withProgress("reading documents", undefined, (progress) =>
    store.doctorWith({
      ...(deep ? { deep } : {}),
      onProgress: ({ collection, documents }) => {
        read.set(collection, documents)
        return progress.report([...read.values()].reduce((sum, each) => sum + each, 0))
      }
    })
  )
}

const withoutUser = (url: string) => url.replace(/\/\/[^/]*@/, "//")

const describeLocation = (connection: Connection): string => {
  switch (connection._tag) {
    case "Local":
      return `${connection.repo} at ${connection.directory}`
    case "Git":
      return withoutUser(connection.url)
    case "GitHub":
      return `${connection.repo} at ${withoutUser(Option.getOrElse(connection.apiUrl, () => "api.github.com"))}`
  }
}

export const doctor = Command.make(
  "doctor",
  { deep: deepOption, json: jsonOption, connection: connectionOptions },
  (input) =>
    Effect.gen(function* () {
      const connection = yield* connectionOf(input.connection)
      const stores = yield* StoreOpener
      const repository: Finding = { severity: "ok", code: "place", message: describeLocation(connection) }
      const inside = yield* Effect.flatMap(Store, (store) => examine(store, input.deep)).pipe(
        Effect.provide(stores.open(connection, "fail")),
        Effect.catchAll((error) =>
          Effect.succeed<ReadonlyArray<Finding>>([
            { severity: "error", code: error._tag, message: error.message, hint: error.hint }
          ])
        )
      )
      const findings = [node, yield* git, repository, ...inside]
      yield* print(input.json, findings, () => lines(findings))
      if (findings.some((finding) => finding.severity === "error")) return yield* new DoctorFailed()
    })
).pipe(
  Command.withDescription("Check Node, git, access, rights, branch, rate budget, indexes and manifests.")
)

/** The doctor found an error, which is printed already. The exit code is 10. */
export class DoctorFailed extends Data.TaggedError("Unwell") {}
