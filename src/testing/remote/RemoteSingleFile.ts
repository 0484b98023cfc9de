import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { ConflictError } from "../../domain/errors/StoreError.js"
import type { Oid } from "../../domain/identifiers/Oid.js"
import type { Change, CommitText, GitRemoteService } from "../../store/remote/GitRemote.js"

const conflict = (path: string, expected: Option.Option<Oid>, actual: Option.Option<Oid>) => {
  const version = Option.match({ onNone: () => null, onSome: (sha: Oid) => ({ sha }) })
  return new ConflictError({
    operation: "singleFile",
    path,
    message: `${path} is not as it was expected`,
    conflicts: [{ collection: "", id: path, expected: version(expected), actual: version(actual) }]
  })
}

/** A commit of one file by an edit that expects the file to be as given: the blob, when it is put, is answered too. */
const commitFile = (
  remote: GitRemoteService,
  branch: string,
  change: Exclude<Change, { readonly _tag: "Link" }>,
  expected: Option.Option<Oid>,
  text: CommitText
) => {
  const version = Option.map(expected, (oid) => ({ oid, content: new Uint8Array() }))
  const expect = Option.isNone(expected) ? "absent" : "cached"
  return Effect.map(
    remote.commitNext(branch, (snapshot) =>
      Effect.flatMap(snapshot.file(change.path, { cached: version, assume: expect }), (found) => {
        const actual = Option.map(found, ({ oid }) => oid)
        return Option.getOrUndefined(actual) === Option.getOrUndefined(expected)
          ? Effect.succeed({ commit: Option.some({ ...text, changes: [change] }), result: undefined })
          : conflict(change.path, expected, actual)
      })
    ),
    ({ committed }) => {
      const { blobs, commit } = Option.getOrThrow(committed)
      return { commit, blob: Option.fromNullable(blobs.get(change.path)) }
    }
  )
}

/** `expected` none: the file must not exist. */
export const putFile = (
  remote: GitRemoteService,
  branch: string,
  path: string,
  content: Uint8Array,
  expected: Option.Option<Oid>,
  text: CommitText
) => commitFile(remote, branch, { _tag: "Put", path, content }, expected, text)

export const deleteFile = (
  remote: GitRemoteService,
  branch: string,
  path: string,
  expected: Oid,
  text: CommitText
) => commitFile(remote, branch, { _tag: "Remove", path }, Option.some(expected), text)
