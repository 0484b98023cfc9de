import { Either } from "effect"
import type { JsonObject } from "../../domain/json/Json.js"
import * as Model from "../program/StoreModel.js"
import { type DerivedFields, definitionsOf } from "./DerivedCheck.js"
import { uniqueKeysOf } from "./DerivedTreeCheck.js"

type Judged = Either.Either<Model.Effects, Model.Refusal>

/** The model of writes, with those refused that would give a value of a unique index to a second document. */
export const judgedModel = ({ indexes }: Pick<DerivedFields, "indexes">) => {
  const unique = Object.keys(indexes).flatMap((collection) =>
    definitionsOf(indexes, collection).flatMap((index) => (index.unique ? [{ collection, index }] : []))
  )

  const violates = (state: Model.State, effects: Model.Effects): boolean =>
    unique.some(({ collection, index }) => {
      const keysOf = (document: JsonObject | undefined) =>
        document === undefined ? [] : uniqueKeysOf(index, document)
      const prefix = `${collection}/`
      const written = Array.from(effects).filter(([key]) => key.startsWith(prefix))
      const gained = written.flatMap(([key, after]) => {
        const had = keysOf(state.get(key))
        return keysOf(after?.fields).filter((value) => !had.includes(value))
      })
      if (gained.length === 0) return false
      const others = Array.from(state).filter(([key]) => key.startsWith(prefix) && !effects.has(key))
      const held = [
        ...others.flatMap(([, document]) => keysOf(document)),
        ...written.flatMap(([, after]) => keysOf(after?.fields))
      ]
      return gained.some((value) => held.filter((other) => other === value).length > 1)
    })

  const judged =
    <Args extends ReadonlyArray<unknown>>(write: (state: Model.State, ...args: Args) => Judged) =>
    (state: Model.State, ...args: Args): Judged =>
      Either.filterOrLeft(
        write(state, ...args),
        (effects) => unique.length === 0 || !violates(state, effects),
        () => "ConflictError" as const
      )

  return {
    single: judged(Model.single),
    batch: judged(Model.batch),
    restore: judged(Model.restore),
    revert: judged(Model.revert)
  }
}

export type JudgedModel = ReturnType<typeof judgedModel>
