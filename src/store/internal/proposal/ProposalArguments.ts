import * as Schema from "effect/Schema"
import { callback, type FieldsOf, oneOf, optional, text, valueKind } from "../../../domain/options/Options.js"
import type { WriteOptions } from "../../Collection.js"
import type {
  AcceptOptions,
  ListProposalsOptions,
  ProposalHandle,
  ProposalMergeOptions,
  ProposeOptions
} from "../../Proposals.js"
import { effect, guard, stream } from "../calls/Guard.js"
import { optionsOf } from "../merge/BranchArguments.js"

const isLine = (value: unknown): boolean =>
  typeof value === "string" && value.trim() !== "" && !/[\p{Cc}\u2028\u2029]/u.test(value)

export const checkProposeOptions = optionsOf({
  title: valueKind<string>("a line of text", isLine),
  body: optional(
    valueKind<string>("a text without NUL", (value) => typeof value === "string" && !value.includes("\0"))
  ),
  into: optional(text),
  labels: optional(
    valueKind<ReadonlyArray<string>>(
      "a list of lines of text",
      (value) => Array.isArray(value) && value.every(isLine)
    )
  )
} satisfies FieldsOf<ProposeOptions>)

export const checkListOptions = optionsOf({
  state: optional(oneOf("open", "accepted", "closed", "all"))
} satisfies FieldsOf<ListProposalsOptions>)

const options = <Fields extends Schema.Struct.Fields>(fields: Fields) =>
  ["options", Schema.UndefinedOr(Schema.Struct(fields)) as unknown as Schema.Schema<any, any>] as const

const message = { message: optional(text) } satisfies FieldsOf<WriteOptions>

// Most of them are checked by the merge.
const merging = {
  ...message,
  onConflict: optional(Schema.Unknown),
  rules: optional(Schema.Unknown),
  collections: optional(Schema.Unknown)
} satisfies FieldsOf<ProposalMergeOptions>

/** Checks the arguments of a proposal's methods. */
export const guardProposal = guard<ProposalHandle>(
  "Proposal",
  {
    get: effect(),
    compare: stream(),
    preview: effect(options(merging)),
    update: effect(["edits", callback()], options(message)),
    rebase: effect(options(merging)),
    accept: effect(options({ ...merging, commitSha: optional(text) } satisfies FieldsOf<AcceptOptions>)),
    close: effect()
  },
  []
)
