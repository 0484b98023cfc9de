import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as DefaultServices from "effect/DefaultServices"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"

const live = Context.get(DefaultServices.liveServices, Clock.Clock)

/** Milliseconds of a clock that never steps back: the fiber's own when it was replaced, as in tests. */
export const monotonicMillis = (): number => {
  const fiber = Fiber.getCurrentFiber()
  if (Option.isSome(fiber)) {
    const clock = Context.get(fiber.value.currentDefaultServices, Clock.Clock)
    if (clock !== live) return Number(clock.unsafeCurrentTimeNanos()) / 1e6
  }
  return performance.now()
}
