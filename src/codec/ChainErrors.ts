import * as Schema from "effect/Schema"
import * as Asynchronous from "../chain/AsyncStepError.js"
import * as Unhandled from "../chain/UnhandledRequestError.js"

const ofChain = <Tag extends string, E extends { readonly _tag: Tag; readonly chain: string }>(
  _tag: Tag,
  Class: new (fields: { readonly chain: string }) => E
) =>
  Schema.transform(
    Schema.Struct({ _tag: Schema.Literal(_tag), chain: Schema.String }),
    Schema.instanceOf(Class),
    {
      strict: true,
      decode: ({ chain }) => new Class({ chain }),
      encode: ({ chain }) => ({ _tag, chain })
    }
  ).annotations({ identifier: _tag })

/**
 * An `UnhandledRequestError` as JSON: the name of the chain.
 *
 * @since 0.1.0
 * @category errors
 */
export const UnhandledRequestError = ofChain("UnhandledRequestError", Unhandled.UnhandledRequestError)

/**
 * An `AsyncStepError` as JSON: the name of the chain.
 *
 * @since 0.1.0
 * @category errors
 */
export const AsyncStepError = ofChain("AsyncStepError", Asynchronous.AsyncStepError)
