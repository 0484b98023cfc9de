import { randomBytes } from "node:crypto"
import { Duration, Effect, Exit, Option, Schedule, Scope } from "effect"
import type { DurationInput } from "../../domain/time/DurationInput.js"
import * as Monotonic from "../../domain/time/MonotonicClock.js"
import type { Browse } from "../../store/browse/Browse.js"
import type { ReadError } from "../../store/Collection.js"
import { durationOption } from "../server/DurationOption.js"

/** A signed-in browser. Nothing in it is visible outside the process. */
export interface Session {
  readonly id: string
  /** The owner: the hash of the token, or `anonymousOwner`. */
  readonly owner: string
  readonly api: string
  readonly repo: string
  readonly branch: string
  readonly root: string
  readonly readOnly: boolean
  readonly browse: Browse
  /** The same branch of the repository with another data root. */
  readonly atRoot: (root: string) => Effect.Effect<Browse, ReadError>
  /** Whether its token still has the rights that it had at the sign-in. */
  readonly isAuthorized: Effect.Effect<boolean>
}

export interface SessionLimits {
  /** How long a session may be idle. */
  readonly idle: DurationInput
  /** The maximum lifetime of a session. */
  readonly absolute: DurationInput
  /** The maximum number of sessions. Above it, the longest idle session of the owner with the most sessions ends. */
  readonly maximum: number
}

/** The owner of sessions without a token. */
export const anonymousOwner = "anonymous"

/** 8 hours idle, 24 hours in total, and 200 sessions. */
export const defaultLimits: SessionLimits = { idle: "8 hours", absolute: "24 hours", maximum: 200 }

interface Entry {
  session: Session
  readonly scope: Scope.CloseableScope
  readonly createdAt: number
  seenAt: number
}

/** The sessions of this process. They end when the scope of the layer closes. */
export class Sessions extends Effect.Service<Sessions>()("chainstore/http/console/Sessions", {
  scoped: (limits: SessionLimits = defaultLimits) =>
    Effect.gen(function* () {
      const idle = Duration.toMillis(durationOption("Sessions: idle", limits.idle))
      const absolute = Duration.toMillis(durationOption("Sessions: absolute", limits.absolute))
      const entries = new Map<string, Entry>()

      /** Ends a session. Uninterruptible, because nobody else can release the resources of a session without an entry. */
      const close = (id: string) =>
        Effect.uninterruptible(
          Effect.suspend(() => {
            const entry = entries.get(id)
            entries.delete(id)
            return entry === undefined ? Effect.void : Scope.close(entry.scope, Exit.void)
          })
        )

      /** Whether a session has expired, or its token has lost its rights. */
      const isOver = (entry: Entry, now: number) =>
        now - entry.seenAt >= idle || now - entry.createdAt >= absolute
          ? Effect.succeed(true)
          : Effect.negate(entry.session.isAuthorized)

      /**
       * The longest idle session of the owner with the most sessions, so that one owner cannot end the sessions of
       * others.
       */
      const excess = (): string => {
        const counts = new Map<string, number>()
        for (const { session } of entries.values()) {
          counts.set(session.owner, (counts.get(session.owner) ?? 0) + 1)
        }
        const most = Math.max(...counts.values())
        const [quietest] = [...entries.values()]
          .filter(({ session }) => counts.get(session.owner) === most)
          .sort((a, b) => a.seenAt - b.seenAt)
        return quietest!.session.id
      }

      const sweep = Effect.gen(function* () {
        const now = yield* Monotonic.millis
        for (const [id, entry] of [...entries]) if (yield* isOver(entry, now)) yield* close(id)
      })

      yield* Effect.forkScoped(Effect.repeat(sweep, Schedule.spaced("15 minutes")))
      yield* Effect.addFinalizer(() => Effect.forEach([...entries.keys()], close, { discard: true }))

      return {
        /**
         * Creates a session with a random id of 256 bits. Resources that `open` acquires live as long as the session. If
         * `answer` fails or is interrupted, nobody knows the id, and the session ends.
         */
        create: <A, E, B>(
          open: (
            id: string
          ) => Effect.Effect<{ readonly session: Session; readonly result: A }, E, Scope.Scope>,
          answer: (opened: { readonly session: Session; readonly result: A }) => Effect.Effect<B, E>
        ): Effect.Effect<B, E> =>
          Effect.uninterruptibleMask((restore) =>
            Effect.gen(function* () {
              const id = randomBytes(32).toString("base64url")
              const scope = yield* Scope.make()
              const opened = yield* restore(Scope.extend(open(id), scope)).pipe(
                Effect.onError(() => Scope.close(scope, Exit.void))
              )
              const now = yield* Monotonic.millis
              entries.set(id, { session: opened.session, scope, createdAt: now, seenAt: now })
              while (entries.size > limits.maximum) yield* close(excess())
              return yield* Effect.onError(restore(answer(opened)), () => close(id))
            })
          ),

        /** Returns the session of an id and resets its idle time. */
        find: (id: string | undefined): Effect.Effect<Option.Option<Session>> =>
          Effect.gen(function* () {
            const entry = id === undefined ? undefined : entries.get(id)
            if (entry === undefined) return Option.none()
            const now = yield* Monotonic.millis
            if (yield* isOver(entry, now)) {
              yield* close(entry.session.id)
              return Option.none()
            }
            entry.seenAt = now
            return Option.some(entry.session)
          }),

        /** Replaces the data of a session. Does nothing if the session has ended. */
        replace: (session: Session): Effect.Effect<void> =>
          Effect.sync(() => {
            const entry = entries.get(session.id)
            if (entry !== undefined) entry.session = session
          }),

        /** Ends a session and releases its resources, including its token. */
        end: (id: string | undefined): Effect.Effect<void> => (id === undefined ? Effect.void : close(id)),

        /** Ends the sessions that have expired, or whose token has lost its rights. */
        sweep,

        count: Effect.sync(() => entries.size)
      } as const
    })
}) {}
