import { Inspectable } from "effect"

/** One finished request, as the access log takes it: a line for people, fields for machines. */
export class AccessEntry {
  constructor(
    readonly requestId: string,
    readonly method: string,
    readonly path: string,
    readonly status: number,
    readonly durationMs: number,
    readonly bytes: number,
    readonly remote: string
  ) {}

  toString(): string {
    return `${this.method} ${this.path} ${this.status} ${this.durationMs.toFixed(3)} ms ${this.bytes} B ${this.requestId}`
  }

  toJSON(): unknown {
    return {
      requestId: this.requestId,
      method: this.method,
      path: this.path,
      status: this.status,
      durationMs: Math.round(this.durationMs * 1000) / 1000,
      bytes: this.bytes,
      remote: this.remote
    }
  }

  [Inspectable.NodeInspectSymbol](): string {
    return this.toString()
  }
}
