import { Clock, Effect, Option } from "effect"
import type { Oid } from "../../../domain/Oid.js"
import * as Api from "../../../store/remote/github/api/Objects.js"
import * as Links from "../reply/Links.js"
import { emptyRepository, notFound, unprocessable } from "../reply/Problem.js"
import * as Reply from "../reply/Reply.js"
import type { Hosted } from "../repository/Repositories.js"
import * as Revision from "../repository/Revision.js"
import type { Call } from "../request/Call.js"
import * as Conditional from "../request/Conditional.js"
import * as Fields from "../request/Fields.js"
import * as JsonBody from "../request/JsonBody.js"
import * as Route from "../request/Route.js"
import * as CommitView from "./CommitView.js"
import * as People from "./People.js"

const get = (call: Call, { fullName, git }: Hosted): Route.Answer =>
  Effect.gen(function* () {
    const sha = Revision.asOid(call.parameters["commit_sha"])
    const info = sha === undefined ? Option.none() : yield* Revision.commitOf(git, sha)
    if (Option.isNone(info)) return yield* (yield* Revision.isEmpty(git)) ? emptyRepository : notFound
    return Conditional.json(call, CommitView.gitCommit(call.links, fullName, info.value))
  })

const create = (call: Call, { fullName, git }: Hosted): Route.Answer =>
  Effect.gen(function* () {
    const body = yield* JsonBody.read(call)
    yield* Fields.supplied(body, "message", "tree")
    const message = yield* Fields.text(body, "message")
    const tree = Revision.asOid(yield* Fields.text(body, "tree"))
    if (yield* Revision.isEmpty(git)) return yield* emptyRepository
    const isA = (oid: Oid | undefined, type: string) =>
      oid === undefined
        ? Effect.succeed(false)
        : Effect.map(git.objectInfo(oid), (info) => Option.isSome(info) && info.value.type === type)
    if (tree === undefined || !(yield* isA(tree, "tree")))
      return yield* unprocessable("Tree SHA does not exist")
    const parents: Array<Oid> = []
    for (const parent of (yield* Fields.array(body, "parents")) ?? []) {
      const oid = Revision.asOid(parent)
      if (oid === undefined || !(yield* isA(oid, "commit"))) {
        return yield* unprocessable("Parent SHA does not exist or is not a commit object")
      }
      parents.push(oid)
    }
    const now = yield* Clock.currentTimeMillis
    const givenAuthor = yield* People.signatureOf(body, "author")
    const author = givenAuthor ?? People.personOf(call.principal)
    const committer = (yield* People.signatureOf(body, "committer")) ?? author
    const oid = yield* git.writeCommit({
      tree,
      parents,
      message,
      author: yield* People.at(author, now),
      committer: yield* People.at(committer, now)
    })
    const info = Option.getOrThrow(yield* git.commit(oid))
    return Reply.plain(201, CommitView.gitCommit(call.links, fullName, info), {
      location: Links.git(call.links, fullName, "commits", oid)
    })
  })

export const routes: ReadonlyArray<Route.Route> = [
  Route.read(Api.getGitCommit, get),
  Route.write(Api.createCommit, create)
]
