import type { InputOf } from "../CollectionDefinition.js"
import type { PlainCollectionLike } from "./AsyncCollection.js"
import type { PromiseOptions, SignalOptions } from "./PromiseOptions.js"

/** The methods of batches and writers whose types depend on the collection. */
export interface AsyncQueueing {
  put<C extends PlainCollectionLike>(
    collection: C,
    id: string,
    document: InputOf<C>,
    options?: SignalOptions | undefined
  ): Promise<void>
  insert<C extends PlainCollectionLike>(
    collection: C,
    document: InputOf<C>,
    options?: PromiseOptions<{ readonly id?: string | undefined }> | undefined
  ): Promise<string>
}
