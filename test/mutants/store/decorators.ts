import { mutant } from "../bundled.js"

const decorator = "store/StoreDecorator.ts"
const around = "Code that runs around the operations of a store, its collections, views and transactions."
const told = "The document, if the operation has one as its argument."

/** Faults of decorators. */
export const decorators = [
  mutant("a decorator is told that dropIndex does not write", "Whether it may change the repository.", [
    decorator,
    "createIndex dropIndex writeJsonSchema",
    "createIndex writeJsonSchema"
  ]),
  mutant("the operations of a view of a ref are not decorated", around, [
    decorator,
    'name === "at" || name === "snapshot"',
    'name === "snapshot"'
  ]),
  mutant("a decorator is not told the document of history", told, [
    decorator,
    '"get version exists history update',
    '"get version exists update'
  ]),
  mutant("streams are not decorated", "Wraps an operation that is a stream.", [
    decorator,
    "decorator.stream?.(operation, stream) ?? stream",
    "stream"
  ]),
  mutant("a decorator is not told the document of edit", told, [
    decorator,
    "replace edit upsert delete",
    "replace upsert delete"
  ]),
  mutant("the edits of an update of a proposal are not decorated", around, [
    decorator,
    "preview propose proposal update",
    "preview propose proposal"
  ]),
  mutant("operations of the body of a transaction are not decorated", around, [
    decorator,
    "onBranch at snapshot transaction preview",
    "onBranch at snapshot preview"
  ]),
  mutant("a decorator runs when an operation is made", "Wraps an operation that is an effect", [
    decorator,
    "Effect.suspend(() => decorator.effect(operation, value))",
    "decorator.effect(operation, value)"
  ])
]
