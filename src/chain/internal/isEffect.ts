import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"

/** Whether a reply has to be run. Option and Either are effects to Effect, and plain answers to a chain. */
export const isEffect = (reply: unknown): reply is Effect.Effect<any, any, any> =>
  ((typeof reply === "object" && reply !== null) || typeof reply === "function") &&
  Effect.EffectTypeId in reply &&
  !(Option.TypeId in reply) &&
  !(Either.TypeId in reply)
