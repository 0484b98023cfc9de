import { Effect, Option } from "effect"
import type { Oid } from "../../../domain/identifiers/Oid.js"
import { trim } from "../../../domain/text/TrimText.js"
import type { GitRepository } from "../../../git/disk/port/GitRepository.js"
import * as Api from "../../../store/remote/github/api/Presentation.js"
import { notFound } from "../reply/HostError.js"
import * as Reply from "../reply/Reply.js"
import { isPath } from "../repository/HostNames.js"
import * as ConditionalReply from "../request/ConditionalReply.js"
import type { HostCall } from "../request/HostCall.js"
import * as Route from "../request/Route.js"
import { file, readAt } from "./ContentRoutes.js"

const readmes = [/^readme\.(md|markdown)$/i, /^readme(\.[^.]+)?$/i]
const licenses = [/^(license|licence|copying)(\.(md|txt))?$/i, /^(license|licence|copying)/i]

/** Finds the first file of a directory that matches a pattern, trying the patterns in order. */
const findByName = (git: GitRepository, root: Oid, directory: string, names: ReadonlyArray<RegExp>) =>
  Effect.map(git.tree(root, directory), (tree) => {
    const files = Option.match(tree, {
      onNone: () => [],
      onSome: ({ entries }) => entries.filter(({ kind, mode }) => kind === "blob" && mode !== "120000")
    })
    for (const name of names) {
      const entry = files.find(({ path }) => name.test(path))
      if (entry !== undefined)
        return { entry, path: directory === "" ? entry.path : `${directory}/${entry.path}` }
    }
    return undefined
  })

// The host does not detect licenses. GitHub reports an unknown license in this way.
const license = { key: "other", name: "Other", spdx_id: "NOASSERTION", url: null, node_id: "" }

/** A route that serves the first file that matches a pattern, in the first directory that has one. */
const fileRoute = (
  operation: Route.RouteOperation,
  directories: (call: HostCall) => ReadonlyArray<string>,
  names: ReadonlyArray<RegExp>,
  more: object = {}
) =>
  Route.read(operation, function* (call, hosted) {
    const { commit, ref } = yield* readAt(call, hosted)
    for (const directory of directories(call)) {
      if (directory !== "" && !isPath(directory)) continue
      const found = yield* findByName(hosted.git, commit.tree, directory, names)
      if (found === undefined) continue
      const answer = Effect.map(file(call, hosted, ref, found.path, found.entry), (reply) =>
        typeof reply.body === "string" && reply.headers["content-type"] === Reply.jsonType
          ? Reply.okJson({ ...JSON.parse(reply.body), ...more })
          : reply
      )
      return yield* ConditionalReply.cached(call, `file ${found.entry.oid} ${found.path} ${ref}`, answer)
    }
    return yield* notFound
  })

export const routes: ReadonlyArray<Route.Route> = [
  fileRoute(Api.getReadme, () => [".github", "", "docs"], readmes),
  fileRoute(Api.getReadmeInDirectory, (call) => [trim(call.parameters["dir"] ?? "", /\//)], readmes),
  fileRoute(Api.getLicense, () => [""], licenses, { license })
]
