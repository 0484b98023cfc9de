import * as Effect from "effect/Effect"

/** Milliseconds of work after which the event loop is let at what others have sent. */
const budget = 10

/** When this turn of the event loop began to be used; undefined before a computation of it has asked. */
let began: number | undefined
const waiting: Array<() => void> = []

/** Lets those who wait go on in their order, until they have used this turn up. */
const serve = () => {
  if (waiting.length === 0 || isSpent()) return
  waiting.shift()!()
  // After all that it does without waiting for something else.
  queueMicrotask(serve)
}

const nextTurn = () => {
  began = undefined
  if (waiting.length === 0) return
  begin()
  serve()
}

const begin = () => {
  began = performance.now()
  setTimeout(nextTurn, 0)
}

/** All computations of one turn of the event loop share it: one after the other they would hold it as long as one. */
const isSpent = (): boolean => {
  if (began !== undefined) return performance.now() - began > budget
  begin()
  return false
}

// A yield of Effect's scheduler runs the next fiber, and lets no timer and no socket in.
const pause = (): Effect.Effect<void> =>
  Effect.async<void>((resume) => {
    const go = () => resume(Effect.void)
    if (began === undefined) begin()
    waiting.push(go)
    return Effect.sync(() => {
      const at = waiting.indexOf(go)
      if (at >= 0) waiting.splice(at, 1)
    })
  })

/** The turn of one long computation on the event loop. */
export interface TimeSlice {
  /** Whether this turn of the event loop is used up, and the computation should pause. */
  readonly isSpent: () => boolean
  /** Waits until everybody else had a turn. An interruption is seen here. */
  readonly pause: Effect.Effect<void>
}

/** A turn that begins now. */
export const make = (): TimeSlice => {
  if (began === undefined) begin()
  return { isSpent, pause: pause() }
}

/** Lets others go on where this turn of the event loop is used up: between pieces that are computed in one go. */
export const yieldIfSpent = (): Effect.Effect<void> =>
  Effect.suspend(() => (isSpent() ? pause() : Effect.void))

/** Runs an effect for each item, one after the other, with turns for others in between. */
export const forEach = <A, B, E, R>(
  items: Iterable<A>,
  run: (item: A) => Effect.Effect<B, E, R>
): Effect.Effect<Array<B>, E, R> =>
  Effect.suspend(() => {
    const slice = make()
    return Effect.forEach(items, (item) =>
      slice.isSpent() ? Effect.zipRight(slice.pause, run(item)) : run(item)
    )
  })

/** A computation in steps: it can stop at each `yield`, with its work so far kept. */
export type Steps<A> = Generator<void, A, void>

/** Members of a value that are visited in one step. */
export const stepSize = 512

/** The result of a computation, without a pause. */
export const runSync = <A>(steps: Steps<A>): A => {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

/** The result of a computation, with pauses for others where it takes long. */
export const run = <A>(start: () => Steps<A>): Effect.Effect<A> =>
  Effect.suspend(() => {
    const steps = start()
    const slice = make()
    const proceed = (): Effect.Effect<A> => {
      for (;;) {
        const step = steps.next()
        if (step.done === true) return Effect.succeed(step.value)
        if (slice.isSpent()) return Effect.zipRight(slice.pause, Effect.suspend(proceed))
      }
    }
    return proceed()
  })

/** A sorted copy of a list, in steps. Equal items keep their order. */
export function* sorted<A>(items: ReadonlyArray<A>, compare: (a: A, b: A) => number): Steps<Array<A>> {
  let runs: Array<Array<A>> = []
  for (let at = 0; at < items.length; at += stepSize) {
    runs.push(items.slice(at, at + stepSize).sort(compare))
    yield
  }
  while (runs.length > 1) {
    const merged: Array<Array<A>> = []
    for (let at = 0; at < runs.length; at += 2) {
      const next = runs[at + 1]
      merged.push(next === undefined ? runs[at]! : yield* mergedRuns(runs[at]!, next, compare))
    }
    runs = merged
  }
  return runs[0] ?? []
}

function* mergedRuns<A>(
  first: ReadonlyArray<A>,
  second: ReadonlyArray<A>,
  compare: (a: A, b: A) => number
): Steps<Array<A>> {
  const all: Array<A> = []
  let [i, j] = [0, 0]
  while (i < first.length || j < second.length) {
    if (all.length % stepSize === 0) yield
    const isFirst = j >= second.length || (i < first.length && compare(first[i]!, second[j]!) <= 0)
    all.push(isFirst ? first[i++]! : second[j++]!)
  }
  return all
}

type Members = { readonly [key: string]: unknown }

const isScalar = (value: unknown): boolean => typeof value !== "object" || value === null

/** How many members of a list, from a place on, are printed in one go. */
const scalarsFrom = (list: ReadonlyArray<unknown>, start: number): number => {
  let at = start
  while (at < list.length && at - start < stepSize && isScalar(list[at])) at++
  return at - start
}

class Printer {
  text = "";

  *print(value: unknown): Steps<void> {
    if (isScalar(value) || typeof (value as Members)["toJSON"] === "function") {
      this.text += JSON.stringify(value)
    } else if (Array.isArray(value)) yield* this.list(value)
    else yield* this.object(value as Members)
  }

  private *list(list: ReadonlyArray<unknown>): Steps<void> {
    this.text += "["
    for (let at = 0; at < list.length; ) {
      if (at > 0) this.text += ","
      const scalars = scalarsFrom(list, at)
      if (scalars === 0) yield* this.print(list[at])
      else this.text += JSON.stringify(list.slice(at, at + scalars)).slice(1, -1)
      at += Math.max(scalars, 1)
      if (scalars === stepSize || at % stepSize === 0) yield
    }
    this.text += "]"
  }

  private *object(object: Members): Steps<void> {
    let visited = 0
    let before = "{"
    for (const key of Object.keys(object)) {
      if (++visited % stepSize === 0) yield
      const member = object[key]
      if (member === undefined) continue
      this.text += `${before}${JSON.stringify(key)}:`
      before = ","
      if (isScalar(member)) this.text += JSON.stringify(member)
      else yield* this.print(member)
    }
    this.text += before === "{" ? "{}" : "}"
  }
}

function* textOf(value: unknown): Steps<string> {
  const printer = new Printer()
  yield* printer.print(value)
  return printer.text
}

/** The JSON text of a value, as `JSON.stringify` prints it, with turns for others. */
export const stringify = (value: unknown): Effect.Effect<string> => run(() => textOf(value))
