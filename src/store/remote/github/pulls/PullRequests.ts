import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { RefMoved } from "../../../../domain/errors/RefMoved.js"
import type { Oid } from "../../../../domain/identifiers/Oid.js"
import * as Monotonic from "../../../../domain/time/MonotonicClock.js"
import type { NewPullRequest, PullRequest, PullRequests } from "../../PullRequests.js"
import * as Api from "../api/Pulls.js"
import type { CallFailure, Client } from "../client/Client.js"
import { Proof, writeOnce } from "../client/LostReply.js"
import { makeWriteCheck, type RemoteOperation } from "../client/RemoteOperation.js"
import { maxReplicaLag } from "../heads/WrittenFiles.js"

const page = 100

interface Parts {
  readonly client: Client
  readonly asOperation: RemoteOperation
}

/** The pull requests of a repository. */
export const makePullRequests = ({ client, asOperation }: Parts): PullRequests => {
  const checkWrite = makeWriteCheck(client.settings.readOnly)
  const { owner, repo } = client.settings.address

  const requestOf = (pull: Api.Pull): PullRequest => ({
    number: pull.number,
    branch: pull.head.ref,
    into: pull.base.ref,
    title: pull.title,
    body: (pull.body ?? "").replaceAll("\r\n", "\n"),
    author: pull.user?.login ?? "ghost",
    labels: pull.labels.flatMap(({ name }) => name ?? []),
    state: pull.merged_at !== null ? "merged" : pull.state === "open" ? "open" : "closed",
    commit: pull.head.sha,
    url: pull.html_url
  })

  const pathOf = (number: number) => ({ pull_number: String(number) })

  const ask = (query: { readonly state: string; readonly head?: string; readonly page?: number }) =>
    Effect.map(
      client.call(Api.listPulls, { path: {}, query: { ...query, per_page: page } }),
      // Pull requests of forks are skipped: their branches are in another repository.
      ({ value }) => {
        const all = Option.getOrElse(value, () => [])
        const own = all.filter(
          ({ head }) => head.repo?.full_name.toLowerCase() === `${owner}/${repo}`.toLowerCase()
        )
        return { count: all.length, own: own.map(requestOf) }
      }
    )

  const find = (branch: string): Effect.Effect<Option.Option<PullRequest>, CallFailure> =>
    Effect.map(ask({ state: "all", head: `${owner}:${branch}` }), ({ own }) =>
      Option.fromNullable(own.filter((one) => one.branch === branch).sort((a, b) => b.number - a.number)[0])
    )

  /** Pull requests that this client has lately opened, closed or merged, of which a replica may show an older state. */
  const written = new Map<number, { readonly request: PullRequest; readonly at: number }>()

  const writtenLately = Effect.map(Monotonic.millis, (now) => {
    for (const [number, { at }] of written) if (now >= at + maxReplicaLag) written.delete(number)
    return [...written.values()].map(({ request }) => request)
  })

  const note = (request: PullRequest) =>
    Effect.map(Monotonic.millis, (at) => {
      written.set(request.number, { request, at })
    })

  /** The pull request in a reply, with the newer state that this client has seen. */
  const newer = (shown: PullRequest, own: ReadonlyArray<PullRequest>): PullRequest => {
    const listed = own.find(({ number }) => number === shown.number)
    if (listed === undefined || listed.state === "open" || shown.state === "merged") return shown
    return { ...shown, state: listed.state }
  }

  const newestFirst = (all: ReadonlyArray<PullRequest>) => [...all].sort((a, b) => b.number - a.number)

  const findOwn = (branch: string) =>
    Effect.gen(function* () {
      const found = yield* find(branch)
      const own = yield* writtenLately
      const shown = Option.toArray(found).map((one) => newer(one, own))
      const hidden = own.filter(
        (one) => one.branch === branch && shown.every(({ number }) => number !== one.number)
      )
      return Option.fromNullable(newestFirst([...shown, ...hidden])[0])
    })

  const get = (number: number) =>
    Effect.map(client.call(Api.getPull, { path: pathOf(number) }), ({ value }) => Option.getOrThrow(value))

  const open = ({
    base,
    body,
    head,
    title
  }: { readonly [Name in "base" | "body" | "head" | "title"]: string }) =>
    writeOnce(client.settings, {
      context: { operation: "PullRequests.open" },
      send: Effect.map(
        client.call(Api.createPull, {
          path: {},
          body: { title, head, base, ...(body === "" ? {} : { body }) }
        }),
        ({ value }) => requestOf(Option.getOrThrow(value))
      ),
      check: () =>
        Effect.map(
          find(head),
          (found): Proof<PullRequest, never> =>
            Option.isSome(found) && found.value.state === "open" ? Proof.done(found.value) : Proof.unchanged
        ),
      // No other process uses the branch, so its pull request was opened by this request.
      onRefusal: (failure) => ({
        check: failure.kind === "PullExists" ? "whileReplicasLag" : "never",
        otherwise: failure
      })
    })

  const labelled = (request: PullRequest, { labels }: NewPullRequest) =>
    labels.length === 0
      ? Effect.succeed(request)
      : Effect.as(
          client.call(Api.addLabels, {
            path: { issue_number: String(request.number) },
            body: { labels }
          }),
          { ...request, labels }
        )

  const moved = (branch: string, expected: Oid, actual: Option.Option<Oid>) =>
    new RefMoved({ ref: `refs/heads/${branch}`, expected: Option.some(expected), actual })

  const merge = ({ branch, number }: PullRequest, at: Oid, message: string) => {
    const [title = "", ...rest] = message.split("\n")
    return writeOnce<Oid, RefMoved>(client.settings, {
      context: { operation: "PullRequests.merge" },
      send: Effect.map(
        client.call(Api.mergePull, {
          path: pathOf(number),
          body: {
            sha: at,
            merge_method: "merge",
            commit_title: title,
            commit_message: rest.join("\n").trim()
          }
        }),
        ({ value }) => Option.getOrThrow(value).sha
      ),
      check: () =>
        Effect.map(get(number), (pull): Proof<Oid, RefMoved> => {
          const refusal = moved(branch, at, Option.some(pull.head.sha))
          if (pull.merged_at === null) return pull.head.sha === at ? Proof.unchanged : Proof.stale(refusal)
          return pull.head.sha === at
            ? Proof.done((pull.merge_commit_sha ?? at) as Oid)
            : Proof.notDone(refusal)
        }),
      onRefusal: (failure) =>
        failure.kind === "Conflict"
          ? { check: "never", otherwise: moved(branch, at, Option.none()) }
          : { check: failure.kind === "NotMergeable" ? "once" : "never", otherwise: failure }
    })
  }

  return {
    open: (request) => {
      const { body, branch, into, title } = request
      return checkWrite("openPullRequest", branch).pipe(
        Effect.zipRight(open({ base: into, body, head: branch, title })),
        Effect.tap(note),
        Effect.flatMap((made) => labelled(made, request)),
        Effect.tap(note),
        asOperation("openPullRequest")
      )
    },
    find: (branch) => asOperation("findPullRequest")(findOwn(branch)),
    list: (state) =>
      asOperation("listPullRequests")(
        Effect.gen(function* () {
          const all: Array<PullRequest> = []
          for (let number = 1; ; number++) {
            const { count, own } = yield* ask({ state, page: number })
            all.push(...own)
            if (count < page) break
          }
          const own = yield* writtenLately
          const missing = own.filter(({ number }) => all.every((one) => one.number !== number))
          // A pull request that the list lacks may have been merged or closed since, also by another client.
          const found = yield* Effect.forEach(missing, (one) =>
            one.state === "open" && state !== "closed"
              ? Effect.map(findOwn(one.branch), (newest) =>
                  Option.isSome(newest) && newest.value.number === one.number ? newest.value : one
                )
              : Effect.succeed(one)
          )
          const isAsked = (one: PullRequest) =>
            state === "all" || (one.state === "open") === (state === "open")
          return [...all.map((one) => newer(one, own)), ...found].filter(isAsked)
        })
      ),
    close: (number) =>
      Effect.map(
        client.call(Api.updatePull, { path: pathOf(number), body: { state: "closed" } }),
        ({ value }) => requestOf(Option.getOrThrow(value))
      ).pipe(Effect.tap(note), asOperation("closePullRequest")),
    merge: (request, at, message) =>
      checkWrite("mergePullRequest", request.branch).pipe(
        Effect.zipRight(merge(request, at, message)),
        Effect.tap(() => note({ ...request, state: "merged" })),
        asOperation("mergePullRequest")
      )
  }
}
