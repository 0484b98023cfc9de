import type { GitRemoteService } from "../remote/GitRemote.js"
import type { StoreService } from "../StoreService.js"

/**
 * What a `Browse` is made of.
 *
 * @since 0.1.0
 * @category options
 */
export interface BrowseOptions {
  /** The store that is browsed. */
  readonly store: StoreService
  /** The remote that the store is written against. */
  readonly remote: GitRemoteService
  /** Whether the store is one that cannot write, which `Browse.readOnly` says of it. */
  readonly readOnly: boolean
}
