import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { Probe } from "../../GitRemote.js"
import * as Api from "../api/Api.js"
import { isKind } from "../client/ApiFailure.js"
import type { CallFailure, Client } from "../client/Client.js"
import type { BranchHeads } from "../heads/BranchHeads.js"
import type { RefReads } from "../heads/RefReads.js"

/** The port's `probe`, which does not fail if something is absent. */
export const makeProbe =
  (client: Client, refs: RefReads, branchHeads: BranchHeads) =>
  (branch: string): Effect.Effect<Probe, CallFailure> => {
    /** A replica may not know a branch that this process has just created. */
    const isThere = Effect.flatMap(refs.read(branch), (at) =>
      Option.isSome(at) || branchHeads.lastOwnCommit(branch) === undefined
        ? Effect.succeed(Option.isSome(at))
        : Effect.map(branchHeads.head(branch), Option.isSome)
    )
    return client.call(Api.getRepository, { path: {} }).pipe(
      Effect.flatMap((reply) => {
        const found = Option.getOrUndefined(reply.value)
        const known = {
          defaultBranch: Option.fromNullable(found?.default_branch),
          write: client.settings.readOnly ? Option.some(false) : Option.fromNullable(found?.permissions?.push)
        }
        return isThere.pipe(
          Effect.map((there): Probe => ({ ...known, repository: "present", branch: there })),
          Effect.catchIf(isKind("EmptyRepository"), () =>
            Effect.succeed<Probe>({ ...known, repository: "empty", branch: false })
          )
        )
      }),
      Effect.catchIf(isKind("Missing"), () =>
        Effect.succeed<Probe>({
          repository: "absent",
          branch: false,
          defaultBranch: Option.none(),
          write: Option.none(),
          hint: client.authenticated
            ? "there is no such repository, or the token has no rights on it: a private one looks absent then"
            : "there is no such repository, or it is private: a token is needed then"
        })
      )
    )
  }
