import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as FastCheck from "effect/FastCheck"
import * as Scope from "effect/Scope"
import type { JsonObject } from "../../domain/json/Json.js"
import { formatValue } from "../laws/CallRecord.js"
import * as Ambient from "./StoreAmbientLaws.js"
import * as Brackets from "./StoreBracketLaws.js"
import * as BranchCases from "./StoreBranchCaseLaws.js"
import * as BranchDecisions from "./StoreBranchDecisionLaws.js"
import * as BranchHistories from "./StoreBranchHistoryLaws.js"
import * as Branches from "./StoreBranchLaws.js"
import * as BranchModes from "./StoreBranchModeLaws.js"
import * as Conditions from "./StoreConditionLaws.js"
import * as Contents from "./StoreContentLaws.js"
import * as Decorators from "./StoreDecoratorLaws.js"
import * as Derived from "./StoreDerivedLaws.js"
import * as Documents from "./StoreDocumentLaws.js"
import * as Faults from "./StoreFaultLaws.js"
import {
  documents,
  type SharedSubject,
  type StoreLaw,
  StoreLawViolation,
  type StoreSubject
} from "./StoreLaw.js"
import * as Merges from "./StoreMergeLaws.js"
import * as MergeNumbers from "./StoreMergeNumberLaws.js"
import * as MergeRules from "./StoreMergeRuleLaws.js"
import * as Messages from "./StoreMessageLaws.js"
import * as Proposals from "./StoreProposalLaws.js"
import * as ProposalRaces from "./StoreProposalRaceLaws.js"
import * as Queries from "./StoreQueryLaws.js"
import * as Races from "./StoreRaceLaws.js"
import * as Reads from "./StoreReadLaws.js"
import * as Settings from "./StoreSettingsLaws.js"
import * as Transactions from "./StoreTransactionLaws.js"
import * as Transfers from "./StoreTransferLaws.js"
import * as Travel from "./StoreTravelLaws.js"
import * as Unique from "./StoreUniqueLaws.js"
import * as Views from "./StoreViewLaws.js"

export type { LawPromise } from "../laws/LawPromise.js"
export { fromLayer, type StoreLaw, StoreLawViolation, type StoreSubject } from "./StoreLaw.js"

const isLaw = (value: unknown): value is StoreLaw =>
  typeof value === "object" && value !== null && "run" in value

const lawsOf = <M extends object>(module: M) =>
  Object.fromEntries(Object.entries(module).filter(([, value]) => isLaw(value))) as {
    readonly [K in keyof M as M[K] extends StoreLaw ? K : never]: StoreLaw
  }

/**
 * Every law of a store, by name. Each has the promise that it checks.
 *
 * @since 0.1.0
 * @category laws
 */
export const all = {
  ...lawsOf(Documents),
  ...lawsOf(Contents),
  ...lawsOf(Messages),
  ...lawsOf(Reads),
  ...lawsOf(Queries),
  ...lawsOf(Conditions),
  ...lawsOf(Views),
  ...lawsOf(Derived),
  ...lawsOf(Unique),
  ...lawsOf(Settings),
  ...lawsOf(Decorators),
  ...lawsOf(Brackets),
  ...lawsOf(Transactions),
  ...lawsOf(Ambient),
  ...lawsOf(Travel),
  ...lawsOf(Races),
  ...lawsOf(Merges),
  ...lawsOf(MergeRules),
  ...lawsOf(MergeNumbers),
  ...lawsOf(Branches),
  ...lawsOf(BranchCases),
  ...lawsOf(BranchDecisions),
  ...lawsOf(BranchHistories),
  ...lawsOf(BranchModes),
  ...lawsOf(Proposals),
  ...lawsOf(ProposalRaces),
  ...lawsOf(Faults),
  ...lawsOf(Transfers)
}

/**
 * Parameters of FastCheck, for documents that are drawn at random.
 *
 * @since 0.1.0
 * @category models
 */
export type Parameters = FastCheck.Parameters<[ReadonlyArray<JsonObject>]>

const defaultRuns = 2

const report = (law: StoreLaw, details: FastCheck.RunDetails<[ReadonlyArray<JsonObject>]>): Error => {
  const cause = details.errorInstance
  const said = cause instanceof StoreLawViolation ? cause.message : FastCheck.stringify(cause)
  const drawn = law.draws ? [`Documents: ${formatValue(details.counterexample?.[0])}`] : []
  const lines = [
    said,
    ...drawn,
    `Again: StoreLaws.check(StoreLaws.all.${law.name}, subject, { seed: ${details.seed}, path: "${details.counterexamplePath}" })`,
    `Failed after ${details.numRuns} runs, shrunk ${details.numShrinks} times.`
  ]
  return new Error(lines.join("\n"), { cause })
}

/**
 * Checks a law for a store. A law about documents is checked with two sets of them unless the parameters say
 * otherwise, any other law once. Rejects with the smallest counterexample that was found: the promise, the calls and
 * the seed.
 *
 * @since 0.1.0
 * @category checking
 */
export const check = async (
  law: StoreLaw,
  subject: StoreSubject,
  parameters: Parameters = {}
): Promise<void> => {
  const property = FastCheck.asyncProperty(documents, async (fields) => {
    const result = await Effect.runPromise(Effect.either(law.run(subject, fields)))
    if (Either.isLeft(result)) throw result.left
  })
  const details = await FastCheck.check(property, {
    numRuns: law.draws ? defaultRuns : 1,
    ...parameters,
    // Documents of a law that draws none are no part of its counterexample.
    ...(law.draws ? {} : { endOnFailure: true, ...(parameters.numRuns === undefined ? { numRuns: 1 } : {}) })
  })
  if (details.failed) throw report(law, details)
}

/**
 * Checks every law for a store, one after another. Rejects with the first counterexample.
 *
 * @since 0.1.0
 * @category checking
 */
export const checkAll = async (subject: StoreSubject, parameters: Parameters = {}): Promise<void> => {
  const scope = Effect.runSync(Scope.make())
  try {
    // Opening a repository on a disk takes longer than many laws.
    const reader = await Effect.runPromise(Scope.extend(subject.remote, scope))
    const shared: SharedSubject = { ...subject, reader }
    for (const law of Object.values(all)) await check(law, shared, parameters)
  } finally {
    await Effect.runPromise(Scope.close(scope, Exit.void))
  }
}
