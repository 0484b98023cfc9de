import { Context, Effect, type Stream } from "effect"

/** What is piped into the command line. */
export class StandardInput extends Context.Tag("chainstore/cli/StandardInput")<
  StandardInput,
  { readonly bytes: Stream.Stream<Uint8Array> }
>() {}

export const standardInput = Effect.map(StandardInput, (input) => input.bytes)
