import { storePairsOnGitHub } from "../../../support/github/StorePairs.js"
import { useStorePairs } from "../../operations/StorePair.js"

useStorePairs(storePairsOnGitHub({ useGraphql: true, commitVia: "graphql" }))

await import("../../operations/Batch.test.js")
await import("../../operations/BranchMerge.test.js")
await import("../../operations/Preview.test.js")
await import("../../operations/Queues.test.js")
await import("../../operations/RestoreRevert.test.js")
await import("../../operations/Transaction.test.js")
await import("../../operations/Writer.test.js")
await import("../../operations/WriterAccount.test.js")
await import("../../operations/WriterDiscard.test.js")
await import("../../operations/WriterLoad.test.js")
