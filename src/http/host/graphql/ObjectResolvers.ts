import { Effect, Option } from "effect"
import type { Oid } from "../../../domain/identifiers/Oid.js"
import { nodeId } from "../repository/NodeId.js"
import type { HostedRepository } from "../repository/Repositories.js"
import * as RevisionLookup from "../repository/RevisionLookup.js"
import * as TagRoutes from "../rest/TagRoutes.js"
import { account } from "./AccountResolver.js"
import { commit } from "./CommitResolver.js"
import { blob, entry, entryObject, tree } from "./FileResolver.js"
import { gitActor, gitObjectFields } from "./GitObjectFields.js"
import { repository } from "./RepositoryResolver.js"
import type { ObjectResolvers, ResolverContext } from "./ResolverContext.js"

const ref = (context: ResolverContext, hosted: HostedRepository, name: string, oid: Oid) => {
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

const tag = (context: ResolverContext, hosted: HostedRepository, oid: Oid) =>
  Effect.map(hosted.git.object(oid), (found) => {
    if (Option.isNone(found)) return null
    const { message, object: of, tag: name, tagger } = TagRoutes.parse(found.value.content)
    const target = RevisionLookup.oidFrom(of)
    return {
      ...gitObjectFields("Tag", context, hosted, oid),
      name,
      message,
      tagger: tagger === undefined ? null : gitActor(context, tagger),
      target: () => (target === undefined ? null : context.run(object(context, hosted, target)))
    }
  })

const object: ObjectResolvers["object"] = (context, hosted, oid) =>
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

/** The resolvers of all object types. */
export const objects: ObjectResolvers = { account, repository, ref, commit, tree, entry, entryObject, object }
