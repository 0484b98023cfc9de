import { Clock, Effect, Option } from "effect"
import type { Oid } from "../../../domain/identifiers/Oid.js"
import * as Api from "../../../store/remote/github/api/Objects.js"
import { emptyRepository, notFound, unprocessable } from "../reply/HostError.js"
import * as Links from "../reply/Links.js"
import * as Reply from "../reply/Reply.js"
import * as RevisionLookup from "../repository/RevisionLookup.js"
import * as ConditionalReply from "../request/ConditionalReply.js"
import * as JsonBody from "../request/JsonBody.js"
import * as Route from "../request/Route.js"
import * as CommitView from "./CommitView.js"
import * as Signatures from "./Signatures.js"

export const routes: ReadonlyArray<Route.Route> = [
  Route.read(Api.getGitCommit, function* (call, { fullName, git }) {
    const sha = RevisionLookup.oidFrom(call.parameters["commit_sha"])
    const info = sha === undefined ? Option.none() : yield* RevisionLookup.commitOf(git, sha)
    if (Option.isNone(info)) return yield* (yield* RevisionLookup.isEmpty(git)) ? emptyRepository : notFound
    return ConditionalReply.json(call, CommitView.gitCommit(call.links, fullName, info.value))
  }),
  Route.write(Api.createCommit, function* (call, { fullName, git }) {
    const body = yield* JsonBody.readDeclared(call, Api.createCommit)
    const { message, tree: named } = yield* body.get("message", "tree")
    const tree = RevisionLookup.oidFrom(named)
    if (yield* RevisionLookup.isEmpty(git)) return yield* emptyRepository
    const isA = (oid: Oid | undefined, type: string) =>
      oid === undefined
        ? Effect.succeed(false)
        : Effect.map(git.objectInfo(oid), (info) => Option.isSome(info) && info.value.type === type)
    if (tree === undefined || !(yield* isA(tree, "tree")))
      return yield* unprocessable("Tree SHA does not exist")
    const parents: Array<Oid> = []
    for (const parent of (yield* body.get("parents")).parents ?? []) {
      const oid = RevisionLookup.oidFrom(parent)
      if (oid === undefined || !(yield* isA(oid, "commit"))) {
        return yield* unprocessable("Parent SHA does not exist or is not a commit object")
      }
      parents.push(oid)
    }
    const now = yield* Clock.currentTimeMillis
    const givenAuthor = yield* Signatures.signatureFrom(body.fields, "author")
    const author = givenAuthor ?? Signatures.signatureOfPrincipal(call.principal)
    const committer = (yield* Signatures.signatureFrom(body.fields, "committer")) ?? author
    const oid = yield* git.writeCommit({
      tree,
      parents,
      message,
      author: yield* Signatures.withDate(author, now),
      committer: yield* Signatures.withDate(committer, now)
    })
    const info = Option.getOrThrow(yield* git.commit(oid))
    return Reply.json(201, CommitView.gitCommit(call.links, fullName, info), {
      location: Links.git(call.links, fullName, "commits", oid)
    })
  })
]
