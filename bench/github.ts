/**
 * Requests per operation on GitHub, counted before our host in this process, beside the reference's counts and
 * the most that we allow ourselves: `npx tsx bench/github.ts`.
 */
import { Effect } from "effect"
import { measure, print, rows } from "../test/support/github/RequestTable.js"

const table = await Effect.runPromise(Effect.forEach(rows, measure))
console.log(print(table))
