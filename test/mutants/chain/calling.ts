import { mutant } from "../bundled.js"

const chain = "Chain.ts"
const policy = "Policy.ts"
const run = "internal/Interpreter.ts"
const bothOrders = "The functions of `Chain` accept the chain first, or last for `pipe`"
const handlerLast = "They also accept the handler last, for `pipe`"
const apart = "Executions of one chain that run at the same time do not affect each other."
const newFiber = "The synchronous functions start a new fiber when a step is an Effect."
const notSeen = "That step does not see fiber-local values of the caller, such as log annotations and spans."
const inBothOrders =
  "given.length > 1 || isChain(given[0]) ? run(given[0], given[1]) : (chain: Any) => run(chain, given[0])"
const firstOnly = "((_: unknown, body: any) => body)("

/** Faults of calling: the order of the arguments, executions at the same time, and the fiber of an execution. */
export const calling = [
  mutant("the functions that execute need the chain first", bothOrders, [
    chain,
    inBothOrders,
    "run(given[0], given[1])"
  ]),
  mutant("a chain that is given last gets no request", bothOrders, [
    chain,
    inBothOrders,
    "given.length > 1 || isChain(given[0]) ? run(given[0], given[1]) : (chain: Any) => run(chain, undefined)"
  ]),
  mutant("provide needs the chain first", bothOrders, [
    chain,
    "dual(\n  2,\n  <Req, Res, E, R, U, R2>(",
    `${firstOnly}\n  2,\n  <Req, Res, E, R, U, R2>(`
  ]),
  mutant("withMiddleware needs the chain first", bothOrders, [
    chain,
    "(args) => args.length > 1,",
    "(args) => args.length > 0,"
  ]),
  mutant("layer needs the chain first", bothOrders, [
    chain,
    "isChain(first) ? [second, first] : [first, second]",
    "[first, second]"
  ]),
  mutant("timeout needs the handler first", handlerLast, [
    policy,
    "dual(2, <Args extends Arguments, Ret>(handler: Handling<Args, Ret>, duration: DurationInput) => {",
    `${firstOnly}2, <Args extends Arguments, Ret>(handler: Handling<Args, Ret>, duration: DurationInput) => {`
  ]),
  mutant("retry needs the handler first", handlerLast, [
    policy,
    "dual(\n  2,\n  <Args extends Arguments, Ret, B, R>(",
    `${firstOnly}\n  2,\n  <Args extends Arguments, Ret, B, R>(`
  ]),
  mutant("recover needs the handler first", handlerLast, [
    policy,
    "dual(\n  2,\n  <Args extends Arguments, Ret, Ret2>(",
    `${firstOnly}\n  2,\n  <Args extends Arguments, Ret, Ret2>(`
  ]),
  mutant("executions share the step that handled", apart, [
    "internal/NamedExecution.ts",
    "const execution = new Execution(this.program, this.chain, true)",
    "const execution = ((this.program as any).shared ??= new Execution(this.program, this.chain, true)) as Execution"
  ]),
  mutant(
    "executions share their log",
    apart,
    [run, "  private log: Logs.PendingLog | undefined = undefined\n", ""],
    [
      run,
      "  constructor(readonly execution: Execution) {}",
      "  constructor(readonly execution: Execution) {}\n  private get log(): Logs.PendingLog | undefined { return (this.execution.program as any).log }\n  private set log(log: Logs.PendingLog | undefined) { (this.execution.program as any).log = log }"
    ]
  ),
  mutant(
    "a synchronous function runs Effects with the values of the caller",
    notSeen,
    [
      "internal/RunSync.ts",
      'import * as FiberId from "effect/FiberId"',
      'import * as Fiber from "effect/Fiber"\nimport * as FiberId from "effect/FiberId"'
    ],
    [
      "internal/RunSync.ts",
      "const exit = Effect.runSyncExit(effect)",
      "const caller = Fiber.getCurrentFiber()\n  const exit = Effect.runSyncExit(Option.isSome(caller) ? Effect.zipRight(Effect.inheritFiberRefs(caller.value.getFiberRefs()), effect) : effect)"
    ]
  ),
  mutant("execute starts a new fiber", newFiber, [
    chain,
    "return new Continuation(toCompiled(chain).execution, 0, request)",
    "return Effect.flatten(Effect.promise(() => Effect.runPromiseExit(new Continuation(toCompiled(chain).execution, 0, request)))) as never"
  ]),
  mutant(
    "runs of one executeNamed share the step that handled",
    "Executions of one chain that run at the same time do not affect each other.",
    [
      "internal/NamedExecution.ts",
      "  override commit() {\n    const execution = new Execution(this.program, this.chain, true)\n",
      "  private shared: Execution | undefined\n  override commit() {\n    const execution = (this.shared ??= new Execution(this.program, this.chain, true))\n"
    ]
  )
]
