import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { inDaemonFiber } from "../../domain/concurrency/DaemonFiber.js"

/** The longest wait for a source to release its resources. */
const releaseTimeout = Duration.seconds(1)

/**
 * The elements of an async iterable, each read on demand. Unlike `Stream.fromAsyncIterable`, a source that hangs can be
 * interrupted. An async generator queues `return` behind its pending `next`, so `return` is awaited for at most one
 * second. A Node stream with a pending read is destroyed.
 */
export const fromAsyncIterable = <A, E>(
  iterable: AsyncIterable<A>,
  onError: (cause: unknown) => E
): Stream.Stream<A, E> =>
  Stream.unwrapScoped(
    Effect.gen(function* () {
      /** Whether a call of `next` is pending. */
      let isPending = false
      /** Whether the source has ended or failed by itself. */
      let hasEnded = false
      const iterator = yield* Effect.acquireRelease(
        Effect.try({ try: () => iterable[Symbol.asyncIterator](), catch: onError }),
        (opened) => Effect.suspend(() => (hasEnded ? Effect.void : release(iterable, opened, isPending)))
      )
      const next = Effect.tryPromise({
        try: async () => {
          isPending = true
          const result = await iterator.next()
          isPending = false
          hasEnded = result.done === true
          return result
        },
        catch: (cause) => {
          hasEnded = true
          return Option.some(onError(cause))
        }
      })
      return Stream.repeatEffectOption(
        Effect.flatMap(next, (result) =>
          result.done === true ? Effect.fail(Option.none()) : Effect.succeed(result.value)
        )
      )
    })
  )

const release = (iterable: AsyncIterable<unknown>, iterator: AsyncIterator<unknown>, isPending: boolean) => {
  const destroyed = Effect.ignoreLogged(
    Effect.try(() => (isNodeStream(iterable) ? iterable.destroy() : undefined))
  )
  const returned = Effect.tryPromise(async () => iterator.return?.()).pipe(
    Effect.timeout(releaseTimeout),
    Effect.ignoreLogged
  )
  return inDaemonFiber(isPending ? Effect.zipRight(destroyed, returned) : returned)
}

const isNodeStream = (
  iterable: AsyncIterable<unknown>
): iterable is AsyncIterable<unknown> & { readonly destroy: () => unknown } =>
  "pipe" in iterable && "destroy" in iterable && typeof iterable.destroy === "function"
