import { Context, Effect, type Stream } from "effect"
import type { SourceError } from "../store/transfer/SourceError.js"

/** Standard input. */
export class StandardInput extends Context.Tag("chainstore/cli/StandardInput")<
  StandardInput,
  { readonly bytes: Stream.Stream<Uint8Array, SourceError> }
>() {}

export const standardInput = Effect.map(StandardInput, (input) => input.bytes)
