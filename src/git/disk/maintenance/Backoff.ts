/** For how many milliseconds nothing begins after a failure, at least and at most. */
const [firstPause, longestPause] = [250, 3_600_000]

/** Work that is not begun again for a time after it has failed: twice as long after each further failure. */
export class Backoff {
  private failures = 0
  private until = 0

  /** The milliseconds until the work may begin. */
  get remaining(): number {
    return Math.max(0, this.until - performance.now())
  }

  failed(): void {
    this.until = performance.now() + Math.min(firstPause * 2 ** this.failures, longestPause)
    this.failures++
  }

  succeeded(): void {
    this.failures = 0
    this.until = 0
  }
}
