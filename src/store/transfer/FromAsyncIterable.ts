import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { inDaemonFiber } from "../../domain/concurrency/DaemonFiber.js"

/** How long a source is waited for that gives itself back. */
const givingBack = Duration.seconds(1)

/**
 * The elements of an async iterable, each read when it is asked for. Unlike with `Stream.fromAsyncIterable` a source
 * that is stuck can be left: what is asked of an async generator waits behind the element that it is at, so its
 * `return` is called and waited for a second at most. A Node stream that is stuck is destroyed.
 */
export const fromAsyncIterable = <A, E>(
  iterable: AsyncIterable<A>,
  onError: (cause: unknown) => E
): Stream.Stream<A, E> =>
  Stream.unwrapScoped(
    Effect.gen(function* () {
      /** An element was asked for and has not come. */
      let asked = false
      /** The source has come to its end by itself. */
      let over = false
      const iterator = yield* Effect.acquireRelease(
        Effect.try({ try: () => iterable[Symbol.asyncIterator](), catch: onError }),
        (opened) => Effect.suspend(() => (over ? Effect.void : giveBack(iterable, opened, asked)))
      )
      const next = Effect.tryPromise({
        try: async () => {
          asked = true
          const result = await iterator.next()
          asked = false
          over = result.done === true
          return result
        },
        catch: (cause) => {
          over = true
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

const giveBack = (iterable: AsyncIterable<unknown>, iterator: AsyncIterator<unknown>, isAsked: boolean) => {
  const destroyed = Effect.ignoreLogged(
    Effect.try(() => (isNodeStream(iterable) ? iterable.destroy() : undefined))
  )
  const returned = Effect.tryPromise(async () => iterator.return?.()).pipe(
    Effect.timeout(givingBack),
    Effect.ignoreLogged
  )
  return inDaemonFiber(isAsked ? Effect.zipRight(destroyed, returned) : returned)
}

const isNodeStream = (
  iterable: AsyncIterable<unknown>
): iterable is AsyncIterable<unknown> & { readonly destroy: () => unknown } =>
  "pipe" in iterable && "destroy" in iterable && typeof iterable.destroy === "function"
