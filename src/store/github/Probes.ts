import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { Probe } from "../GitRemote.js"
import * as Api from "./Api.js"
import { isKind } from "./ApiFailure.js"
import type { CallFailure, Client } from "./Client.js"
import type { RefWrites } from "./RefWrites.js"

/** What exists and what may be done, told without failing where something is absent. */
export const makeProbe =
  (client: Client, refs: RefWrites) =>
  (branch: string): Effect.Effect<Probe, CallFailure> =>
    client.call(Api.getRepository, { path: {} }).pipe(
      Effect.flatMap((reply) => {
        const found = Option.getOrUndefined(reply.value)
        const known = {
          defaultBranch: Option.fromNullable(found?.default_branch),
          write: client.settings.readOnly ? Option.some(false) : Option.fromNullable(found?.permissions?.push)
        }
        return refs.read(branch).pipe(
          Effect.map((at): Probe => ({ ...known, repository: "present", branch: Option.isSome(at) })),
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
