import { Effect } from "effect"
import type { Oid } from "../../../src/domain/identifiers/Oid.js"
import * as GitHost from "../../../src/store/remote/wire/GitHost.js"
import * as HttpBackend from "./HttpBackend.js"
import { withoutCapabilities } from "./WireFaults.js"

/** A subject of the contract of remotes over `git http-backend`, optionally without some capabilities. */
export const subject = (
  lacks: Parameters<typeof withoutCapabilities>[1] = {},
  ...settings: ReadonlyArray<string>
) =>
  Effect.gen(function* () {
    const backend = yield* HttpBackend.make
    if (Object.keys(lacks).length > 0) backend.intercept = withoutCapabilities(backend, lacks)
    const url = backend.create("contract.git", ...settings)
    const git = (...args: ReadonlyArray<string>) => Effect.sync(() => backend.git("contract.git", ...args))
    const open = GitHost.scoped({ url })
    return {
      remote: yield* open,
      another: open,
      force: (branch: string, at: Oid) => git("update-ref", `refs/heads/${branch}`, at),
      tag: (name: string, at: Oid) => git("update-ref", `refs/tags/${name}`, at),
      merge: (parents: ReadonlyArray<Oid>, tree: Oid) =>
        Effect.map(
          git(
            ...["-c", "user.name=Somebody", "-c", "user.email=somebody@example.org"],
            ...["commit-tree", tree, ...parents.flatMap((parent) => ["-p", parent]), "-m", "merge"]
          ),
          (oid) => oid as Oid
        )
    }
  })
