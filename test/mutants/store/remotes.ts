import { mutant } from "../bundled.js"

const engine = "git/memory/Engine.ts"
const memory = "git/memory/MemoryRepository.ts"
const log = "git/CommitLog.ts"
const remote = "store/remote/repository/RepositoryRemote.ts"
const treeEdit = "git/TreeEdit.ts"
const mapTree = "git/MapTreeEdit.ts"
const reading = "git/TreeReading.ts"
const revision = "git/Revision.ts"
const draft = "git/CommitDraft.ts"
const object = "git/GitObject.ts"
const snapshots = "store/remote/RemoteSnapshot.ts"

const commit =
  "Creates one commit on `expected` and moves the branch to it, atomically. `expected: none`: the branch must not exist; the repository may be empty. Fails with `RefMoved` if the branch points to another commit."
const next =
  "Creates the next commit of a branch. Waits until no other caller of this process commits to the branch, runs `edit` with a snapshot of the parent of the new commit, and creates the commit."
const idle = "An edit without a commit writes nothing."
const moved =
  "Fails with `RefMoved` if something that the edit has read has changed: call `commitNext` again."
const history =
  'The commits reachable from `at` that changed `path` ("": all commits), newest first. Renames are not followed.'
const differs =
  "Every path below `under` whose file differs in content or mode between two commits or trees (none: the empty tree). Complete, whatever its size."
const head =
  "The current head of the branch; none if it does not exist. Never older than the last write of this process."
const after =
  "The tree id that the directory `path` has after `changes` to the tree of `at`; none if it becomes empty."
const creates = "Fails with `RefMoved` if the branch exists."
const deletes = "Deleting a branch that does not exist succeeds."
const advances =
  "Fast-forwards a branch. Fails with `RefMoved` if it is not at `from`, or if `to` does not descend from `from`."
const together = "Creates, fast-forwards and deletes several branches in one transaction."
const probes = "Reports whether repository and branch exist. Something absent is not a failure."
const names =
  "The commit that `resolve` finds. A full id is assumed to be that of a commit until a read finds nothing."
const snapshot = "The current state of the branch. Never older than the last write of this process."

const unique =
  "`unique`: no other process uses this name, so an existing branch at `at` means that the request was delivered twice, which is a success."
const temporary = "`temporary`: no other process has to see the branch."
const named =
  "Fails with `RefMoved`, which names a branch that is not at `from`, or whose `to` does not descend from `from`."
const pins = "From then on it is pinned: every read is of that commit."
const knows = "The commit, if it is known without a request."
const confirms = "Whether the remote confirmed that the caller's cached version is current (HTTP 304)."
const bypasses = "Sends no validator and bypasses every cache."
const assumes = "A remote does so only if the commit fails when the assumption is wrong."

/** Faults of remotes: sentences of the port. */
export const remotes = [
  mutant("a commit on any head is accepted", commit, [
    remote,
    "return Option.getOrUndefined(at) === Option.getOrUndefined(wanted)\n",
    "return Option.isSome(at) || Option.getOrUndefined(at) === Option.getOrUndefined(wanted)\n"
  ]),
  mutant("a branch that exists may be made by a commit", commit, [
    remote,
    "return Option.getOrUndefined(at) === Option.getOrUndefined(wanted)\n",
    "return Option.isNone(wanted) || Option.getOrUndefined(at) === Option.getOrUndefined(wanted)\n"
  ]),
  mutant("RefMoved does not say where the branch is", commit, [
    remote,
    "expected: wanted, actual: at }",
    "expected: wanted, actual: Option.none() }"
  ]),
  mutant("a commit forgets its parent", commit, [
    draft,
    "parents: [...new Set([...Option.toArray(Option.map(head, ({ commit }) => commit)), ...merges])],",
    "parents: [...merges],"
  ]),
  mutant("a commit's time is in milliseconds", commit, [
    draft,
    "seconds: Math.floor(millis / 1000)",
    "seconds: Math.floor(millis)"
  ]),
  mutant("the author is the committer", commit, [
    draft,
    "author: datedAuthor,",
    "author: dated(committer ?? author ?? signature),"
  ]),
  mutant("blobs that were put are not told", commit, [
    draft,
    "return oid === undefined ? [] : [[path, oid] as const]",
    "return oid === undefined || index > 0 ? [] : [[path, oid] as const]"
  ]),
  mutant("two clients do not see each other's commits", moved, [
    engine,
    "return actual === Option.getOrUndefined(expected)",
    'return ref !== "" || actual === Option.getOrUndefined(expected)'
  ]),
  mutant("an edit that makes none commits", idle, [
    engine,
    "if (Option.isNone(commit)) return { committed: Option.none(), result }\n",
    'if (Option.isNone(commit)) {\n              const none = commitOn(operation, branch, head, { message: "nothing", changes: [] }, 0)\n              return none instanceof RefMoved || none instanceof ValidationError ? yield* none : { committed: Option.none(), result }\n            }\n'
  ]),
  mutant("an edit's commit is not answered", next, [
    engine,
    "return { committed: Option.some(created), result }",
    "return { committed: Option.none(), result }"
  ]),
  mutant("given bytes are kept", snapshot, [
    memory,
    "this.blobs.set(oid, content.slice())",
    "this.blobs.set(oid, content)"
  ]),
  mutant("kept bytes are handed out", snapshot, [
    engine,
    "if (content === undefined) throw new MissingObject(oid)\n    return content.slice()",
    "if (content === undefined) throw new MissingObject(oid)\n    return content"
  ]),
  mutant("kept bytes are handed out by object", snapshot, [
    engine,
    "memory.blobs.get(oid)?.slice()",
    "memory.blobs.get(oid)"
  ]),
  mutant("links are not checked", commit, [
    engine,
    "if (invalid !== undefined) return invalid\n    }\n    return undefined",
    "if (invalid === null) return invalid\n    }\n    return undefined"
  ]),
  mutant("a name of a branch is not checked", head, [
    remote,
    "branchError(operation, branch) ?? Effect.succeed(branchRef(branch))",
    "Effect.succeed(branchError === undefined ? branch : branchRef(branch))"
  ]),
  mutant("a commit's branch name is not checked", commit, [
    engine,
    "const invalid = branchError(operation, branch)\n",
    'const invalid = branch === "" ? branchError(operation, branch) : undefined\n'
  ]),
  mutant("history ignores the path", history, [
    remote,
    "{ path, limit: options?.limit }",
    "{ limit: options?.limit }"
  ]),
  mutant("history of a log ignores its limit", history, [
    remote,
    "{ path, limit: options?.limit }",
    "{ path }"
  ]),
  mutant("history begins at the oldest", history, [
    log,
    "age(pending[at]!) > age(pending[newest]!)",
    "age(pending[at]!) < age(pending[newest]!)"
  ]),
  mutant("history follows first parents alone", history, [
    log,
    "const parents = commit.parents.map(",
    "const parents = commit.parents.slice(0, 1).map("
  ]),
  mutant("history has merges that changed nothing", history, [
    log,
    "if (same === undefined && (own",
    "if ((same === undefined || parents.length > 1) && (own"
  ]),
  mutant("history leaves the first commit out", history, [
    log,
    "(own !== undefined || parents.length > 0)) yield commit",
    "parents.length > 0) yield commit"
  ]),
  mutant("history leaves removals out", history, [
    log,
    "(own !== undefined || parents.length > 0)) yield commit",
    "own !== undefined) yield commit"
  ]),
  mutant("a difference ignores under", differs, [
    remote,
    "idOf(after), options?.under)",
    "idOf(after), undefined)"
  ]),
  mutant("a difference has no removals", differs, [
    reading,
    "if (order < 0) oneSide(from!, at.i++, prefix, true)",
    "if (order < 0) at.i++"
  ]),
  mutant("a difference has no additions", differs, [
    reading,
    "else if (order > 0) oneSide(to!, at.j++, prefix, false)",
    "else if (order > 0) at.j++"
  ]),
  mutant("a difference stops at directories", differs, [
    reading,
    "if (file === undefined) enter(isBefore ? oid : undefined, isBefore ? undefined : oid, `${path}/`)\n    else record",
    "if (file !== undefined) record"
  ]),
  mutant("before and after are exchanged", differs, [
    reading,
    "if (was !== undefined && is !== undefined) record(path, was, is)",
    "if (was !== undefined && is !== undefined) record(path, is, was)"
  ]),
  mutant("a difference knows no modes", differs, [
    "git/MapTreeNode.ts",
    "one.oid === two.oid && one.mode === two.mode",
    'one.oid === two.oid && (one.mode === "040000") === (two.mode === "040000")'
  ]),
  mutant("everything is an ancestor", "if `to` does not descend from `from`", [
    memory,
    "    return false\n  }\n}",
    "    return seen.size > 0\n  }\n}"
  ]),
  mutant("ancestors are parents", "if `to` does not descend from `from`", [
    memory,
    "pending.push(...(this.commits.get(oid)?.parents ?? []))",
    "if (seen.size < 2) pending.push(...(this.commits.get(oid)?.parents ?? []))"
  ]),
  mutant("ancestors are first parents", "if `to` does not descend from `from`", [
    memory,
    "pending.push(...(this.commits.get(oid)?.parents ?? []))",
    "pending.push(...(this.commits.get(oid)?.parents.slice(0, 1) ?? []))"
  ]),
  mutant("a branch is made twice", creates, [
    remote,
    "const created = repository.updateRef(name, Option.none(), Option.some(at), options)",
    "const created = repository.updateRef(name, yield* repository.ref(name), Option.some(at))"
  ]),
  mutant("a branch is made at nothing", creates, [
    remote,
    "        yield* requireCommit(operation, at)\n",
    ""
  ]),
  mutant("a branch advances backwards", advances, [
    remote,
    "        yield* requireForward(operation, name, Option.some(from), to)\n",
    ""
  ]),
  mutant("a branch advances from anywhere", advances, [
    remote,
    "yield* repository.updateRef(name, Option.some(from), Option.some(to))",
    "yield* repository.updateRef(name, yield* repository.ref(name), Option.some(to))"
  ]),
  mutant("branches move by force together", together, [
    remote,
    "                if (Option.isSome(next)) yield* requireForward(operation, name, expected, next.value)\n",
    '                if (Option.isSome(next) && name === "") yield* requireForward(operation, name, expected, next.value)\n'
  ]),
  mutant("branches move one by one", together, [
    engine,
    "for (const { expected, name: ref } of updates) {\n          const moved = movedFrom(ref, expected)\n          if (moved !== undefined) return moved\n",
    "for (const { expected, name: ref, next } of updates) {\n          const moved = movedFrom(ref, expected)\n          if (moved !== undefined) return moved\n          if (Option.isSome(next)) memory.refs.set(ref, next.value)\n"
  ]),
  mutant("only the first branch moves", together, [
    engine,
    "for (const { name: ref, next } of updates) {\n          if (Option.isSome(next)) memory",
    "for (const { name: ref, next } of updates.slice(0, 1)) {\n          if (Option.isSome(next)) memory"
  ]),
  mutant("a deleted branch stays", deletes, [
    engine,
    "else memory.refs.delete(ref)",
    'else if (ref === "") memory.refs.delete(ref)'
  ]),
  mutant("all branches are listed", "Fast-forwards a branch.", [
    remote,
    "repository.refs(branchRef(prefix))",
    "repository.refs(branchRef(prefix.slice(0, 0)))"
  ]),
  mutant("listed names are whole", "Fast-forwards a branch.", [
    remote,
    'name: name.slice(branchRef("").length)',
    "name"
  ]),
  mutant("an empty repository is present", probes, [
    remote,
    'names.length === 0 ? "empty" : "present"',
    '"present"'
  ]),
  mutant("any branch is the branch", probes, [
    remote,
    "branch: names.includes(branch)",
    'branch: names.length > 0 || branch === ""'
  ]),
  mutant("a tag goes before a branch", names, [
    revision,
    "[`refs/heads/${name}`, `refs/tags/${name}`, `refs/${name}`]",
    "[`refs/tags/${name}`, `refs/${name}`]"
  ]),
  mutant("tags are unknown", names, [
    revision,
    "[`refs/heads/${name}`, `refs/tags/${name}`, `refs/${name}`]",
    "[`refs/heads/${name}`]"
  ]),
  mutant("~ is no step", names, [revision, "Number(generations || 1)", "Number(generations || 0)"]),
  mutant("^2 is the first parent", names, [
    revision,
    "source.parents(oid)?.[nth - 1]",
    "source.parents(oid)?.[0]"
  ]),
  mutant("^0 is the parent", names, [revision, "back: nth === 0 ? 0 : 1, nth", "back: 1, nth: nth || 1"]),
  mutant("ids in capitals are unknown", names, [
    revision,
    "const id = name.toLowerCase()",
    "const id = name"
  ]),
  mutant("HEAD is unknown", names, [
    memory,
    'name === "HEAD" ? `refs/heads/${this.defaultBranch ?? "main"}` : name',
    "name"
  ]),
  mutant("a removed path may be missing", commit, [
    treeEdit,
    "if (existing === undefined || (isTree && !options.removesDirectories)) {",
    "if (isTree && !options.removesDirectories) {"
  ]),
  mutant("a directory is removed as a file", commit, [
    treeEdit,
    "if (existing === undefined || (isTree && !options.removesDirectories)) {",
    "if (existing === undefined) {"
  ]),
  mutant("a file takes the place of a directory", commit, [
    treeEdit,
    'if (isTree && edit.mode !== "040000" && !options.removesDirectories) {',
    "if (isTree && edit.mode === undefined) {"
  ]),
  mutant("a directory takes the place of a file", commit, [
    treeEdit,
    "    if (edit === undefined) throw fileBlocksDirectory(operation, path)\n",
    ""
  ]),
  mutant("a path is changed twice", commit, [
    treeEdit,
    '    if (at.edit !== undefined) throw refusal(operation, edit.path, "is changed twice in one commit")\n',
    ""
  ]),
  mutant("directories stay when they are empty", commit, [
    mapTree,
    "return entries.size === 0 ? undefined : write",
    "return entries.size < 0 ? undefined : write"
  ]),
  mutant("trees are in the order of writes", snapshot, [
    mapTree,
    "write(sameKinds ? entries : inOrder(entries))",
    "write(entries)"
  ]),
  mutant("directories sort as files", snapshot, [
    object,
    'compareNames(a.mode === "040000" ? `${left}/` : left, b.mode === "040000" ? `${right}/` : right)',
    "compareNames(left, right)"
  ]),
  mutant("a listing has no directories", snapshot, [
    reading,
    "if (!isEntered || options.trees === true) entries.push(entry)",
    'if (entry.kind !== "tree" || options.trees === true) entries.push(entry)'
  ]),
  mutant("a whole listing has directories", snapshot, [
    reading,
    "if (!isEntered || options.trees === true) entries.push(entry)",
    "entries.push(entry)"
  ]),
  mutant("a whole listing has short paths", snapshot, [
    reading,
    "prefix: `${entry.path}/`, next: 0",
    'prefix: "", next: 0'
  ]),
  mutant("a directory is read as a file", snapshot, [
    remote,
    'Option.isNone(entry) || entry.value.kind !== "blob"',
    "Option.isNone(entry)"
  ]),
  mutant("a known file is an answer", snapshot, [
    remote,
    "options?.known?.oid === entry.value.oid",
    "options?.known !== undefined"
  ]),
  mutant("missing files shift the others", snapshot, [
    remote,
    "path: found[next++]!.path",
    "path: files[next++]!.path"
  ]),
  mutant("the tree after is the tree before", after, [
    engine,
    "return Option.fromNullable(directoryAt(find, after, path))",
    "return Option.fromNullable(directoryAt(find, root ?? after, path))"
  ]),
  mutant("an empty directory has a tree", after, [
    reading,
    'found?.mode === "040000" && found.oid !== emptyTree ? found.oid : undefined',
    'found?.mode === "040000" ? found.oid : undefined'
  ]),
  mutant("a unique branch cannot be delivered twice", unique, [
    remote,
    "yield* options?.unique === true",
    "yield* options?.unique === null"
  ]),
  mutant("a branch that another process created is a success", unique, [
    remote,
    'error._tag === "RefMoved" && Option.contains(error.actual, at)',
    'error._tag === "RefMoved"'
  ]),
  mutant("every branch counts as unique", unique, [
    remote,
    "yield* options?.unique === true",
    "yield* options?.unique !== null"
  ]),
  mutant("a temporary branch is not created", temporary, [
    remote,
    "        yield* requireCommit(operation, at)\n",
    "        yield* requireCommit(operation, at)\n        if (options?.temporary === true) return\n"
  ]),
  mutant("a lost race of several branches names the first", named, [
    engine,
    "const moved = movedFrom(ref, expected)\n          if (moved !== undefined) return moved",
    "const moved = movedFrom(ref, expected)\n          if (moved !== undefined) return new RefMoved({ ...moved, ref: updates[0]!.name, expected: moved.expected, actual: moved.actual })"
  ]),
  mutant(
    "a snapshot follows its branch",
    pins,
    [
      snapshots,
      "        pin ??= snapshotOf(remote, head)\n        return pin\n",
      "        pin = snapshotOf(remote, head)\n        return pin\n"
    ],
    [snapshots, "      if (pin !== undefined) return Effect.succeed(pin)\n", ""]
  ),
  mutant("a snapshot does not know its head", knows, [
    snapshots,
    "knownHead: () => pin?.knownHead(),",
    "knownHead: () => undefined,"
  ]),
  mutant("every cached version is confirmed", confirms, [
    snapshots,
    "notModified: held?.oid === oid",
    "notModified: held !== undefined"
  ]),
  mutant("a fresh read is confirmed", bypasses, [
    snapshots,
    "const held = fresh ? undefined : Option.getOrUndefined(cached)",
    "const held = Option.getOrUndefined(cached)"
  ]),
  mutant("an absence is believed without a check", assumes, [
    snapshots,
    "file: (path, { cached = Option.none(), fresh = false } = {}) => {\n",
    'file: (path, { assume, cached = Option.none(), fresh = false } = {}) => {\n    if (assume === "absent") return Effect.succeedNone\n'
  ]),
  mutant("a cached version is believed without a check", assumes, [
    snapshots,
    "file: (path, { cached = Option.none(), fresh = false } = {}) => {\n",
    'file: (path, { assume, cached = Option.none(), fresh = false } = {}) => {\n    if (assume === "cached" && Option.isSome(cached)) return Effect.succeedSome({ ...cached.value, notModified: true })\n'
  ]),
  mutant(
    "branches are listed in the order of their creation",
    "The branches whose names begin with the prefix, ordered by name.",
    [engine, "          .sort((a, b) => GitObject.compareNames(a.name, b.name))\n", ""]
  ),
  mutant("merge bases are not in order", "All best common ancestors of two commits, ordered by id.", [
    "git/MergeBases.ts",
    "return found.sort(compareCodePoints)",
    "return found.sort((a, b) => compareCodePoints(b, a))"
  ]),
  mutant("second parent is the first", "with Git's suffixes for ancestors: `main~1`, `v1^`.", [
    "git/Revision.ts",
    "source.parents(oid)?.[nth - 1]",
    "source.parents(oid)?.[Math.min(nth, 1) - 1]"
  ])
]
