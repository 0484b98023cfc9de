import type { GitRemoteService } from "../remote/GitRemote.js"
import type { StoreService } from "../StoreService.js"

/**
 * The store and the remote of a `Browse`.
 *
 * @since 0.1.0
 * @category options
 */
export interface BrowseOptions {
  /** The store whose documents are shown. */
  readonly store: StoreService
  /** The remote of the store. */
  readonly remote: GitRemoteService
  /** Whether the store cannot write; the value of `Browse.readOnly`. */
  readonly readOnly: boolean
}
