import type { GitRemoteService } from "../remote/GitRemote.js"
import type { ResolvedOptions } from "../StoreOptions.js"
import type { Derived } from "./Derived.js"
import type { RepositorySettings } from "./RepositorySettings.js"
import type { Source } from "./Source.js"

/** What the write pipeline is made of. */
export interface Parts {
  readonly remote: GitRemoteService
  readonly options: ResolvedOptions
  readonly branch: string
  readonly source: Source
  readonly free: boolean
  readonly repository: RepositorySettings
  readonly derived: Derived
}
