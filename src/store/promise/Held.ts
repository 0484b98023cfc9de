import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type { Store } from "../Store.js"
import type { Runner } from "./Runner.js"

/** Why a held bracket ended without success. */
class Abandoned {
  readonly _tag = "chainstore/Abandoned"
}

/** A bracket of the store that is kept open between calls, until it is closed or abandoned. */
export class Held<Handle, Result> {
  private constructor(
    readonly handle: Handle,
    private readonly runner: Runner,
    private readonly end: Deferred.Deferred<void, Abandoned>,
    private readonly result: Promise<Result>
  ) {}

  static async open<Handle, Result, E>(
    runner: Runner,
    bracket: (
      body: (handle: Handle) => Effect.Effect<void, Abandoned>
    ) => Effect.Effect<Result, E | Abandoned, Store>
  ): Promise<Held<Handle, Result>> {
    const end = await runner.run(Deferred.make<void, Abandoned>())
    const handle = await runner.run(Deferred.make<Handle>())
    const result = runner.run(
      bracket((opened) => Effect.zipRight(Deferred.succeed(handle, opened), Deferred.await(end)))
    )
    const failed = result.then(() => runner.run(Deferred.await(handle)))
    const opened = await Promise.race([runner.run(Deferred.await(handle)), failed])
    return new Held(opened, runner, end, result)
  }

  /** Ends the bracket well; what it then writes is durable when this resolves. */
  async close(): Promise<Result> {
    await this.runner.run(Deferred.succeed(this.end, undefined))
    return this.result
  }

  /** Ends the bracket as a failure does; closing or abandoning it again changes nothing. */
  async abandon(): Promise<void> {
    await this.runner.run(Deferred.fail(this.end, new Abandoned()))
    await this.result.catch((error) => {
      if (!(error instanceof Abandoned)) throw error
    })
  }
}
