import { Effect, Option } from "effect"
import type { Oid } from "../../../domain/identifiers/Oid.js"
import { nodeId } from "../repository/Names.js"
import type { Hosted } from "../repository/Repositories.js"
import * as Revision from "../repository/Revision.js"
import * as Tags from "../rest/Tags.js"
import { account } from "./Account.js"
import { commit } from "./Commit.js"
import type { Context, Objects } from "./Context.js"
import { blob, entry, entryObject, tree } from "./Files.js"
import { actor, named } from "./Named.js"
import { repository } from "./Repository.js"

const ref = (context: Context, hosted: Hosted, name: string, oid: Oid) => {
  const [, prefix = "refs/", short = name] = /^(refs\/(?:heads|tags)\/|refs\/)(.*)$/.exec(name) ?? []
  return {
    __typename: "Ref",
    id: nodeId("Ref", hosted.fullName, name),
    name: short,
    prefix,
    repository: () => repository(context, hosted),
    target: () => context.run(object(context, hosted, oid))
  }
}

const tag = (context: Context, hosted: Hosted, oid: Oid) =>
  Effect.map(hosted.git.object(oid), (found) => {
    if (Option.isNone(found)) return null
    const { message, object: of, tag: name, tagger } = Tags.parse(found.value.content)
    const target = Revision.asOid(of)
    return {
      ...named("Tag", context, hosted, oid),
      name,
      message,
      tagger: tagger === undefined ? null : actor(context, tagger),
      target: () => (target === undefined ? null : context.run(object(context, hosted, target)))
    }
  })

const object: Objects["object"] = (context, hosted, oid) =>
  Effect.gen(function* () {
    const { git } = hosted
    const info = yield* git.objectInfo(oid)
    if (Option.isNone(info)) return null
    switch (info.value.type) {
      case "blob":
        return blob(context, hosted, oid)
      case "tree":
        return tree(context, hosted, oid, "")
      case "commit": {
        const found = yield* git.commit(oid)
        return Option.isSome(found) ? commit(context, hosted, found.value) : null
      }
      case "tag":
        return yield* tag(context, hosted, oid)
    }
  })

/** How everything is shown. */
export const objects: Objects = { account, repository, ref, commit, tree, entry, entryObject, object }
