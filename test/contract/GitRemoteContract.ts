import { describe, it } from "@effect/vitest"
import { RemoteLaws } from "../../src/testing/index.js"

export interface Harness extends RemoteLaws.RemoteHarness {
  readonly name: string
  /** Milliseconds that one test may take. Default 30,000. */
  readonly timeout?: number | undefined
}

/** Larger than what others are asked, so that nothing of ours hides behind a limit. */
const sizes: RemoteLaws.RemoteSizes = {
  files: 10_000,
  largeBlob: 20_000_000,
  listing: 100_000,
  fibres: 64,
  interruptions: 25,
  interruptWithin: 20
}

/** Registers the laws that every `GitRemote` keeps; what a remote promises less is said by its harness. */
export const gitRemoteContract = (harness: Harness): void => {
  describe(`GitRemote: ${harness.name}`, () => {
    for (const law of RemoteLaws.laws({ ...harness, sizes: { ...sizes, ...harness.sizes } })) {
      it(law.name, () => RemoteLaws.check(law), harness.timeout)
    }
  })
}
