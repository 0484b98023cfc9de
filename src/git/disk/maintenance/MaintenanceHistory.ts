import { Backoff } from "./Backoff.js"

/** What earlier maintenance runs of a repository could not do. Without it, each new engine would try the same again. */
export class MaintenanceHistory {
  readonly since = performance.now()
  /** What could not be packed, apart from each other: a damaged loose object must not keep packs from being combined. */
  readonly packBackoff = new Backoff()
  readonly looseBackoff = new Backoff()
  /** The packs that the last maintenance left, and so could not combine. Fewer, if somebody has removed some since. */
  leftPacks = 0
  /** The packs that Git could not read, and the version of their files. */
  readonly unreadable = new Map<string, string>()
  /** The packs that could not be deleted. They are not combined again. */
  readonly undeletable = new Set<string>()
  /** The packs whose index could not be rebuilt: how often, and the version of the file. */
  readonly failures = new Map<string, { readonly stamp: string | undefined; readonly count: number }>()
}
