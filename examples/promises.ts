/**
 * The store without Effect: promises, null for a missing document, `for await`, and `await using` on newer versions of Node.
 *
 * Output:
 * Tea costs 3
 * nothing there: null
 * ConflictError: products/tea exists already
 * cake, tea
 * 2 commits
 */
import { mkdtemp } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { openLocal } from "chainstore/local"
import { ConflictError } from "chainstore/promise"

const directory = await mkdtemp(join(tmpdir(), "chainstore-"))
await using store = await openLocal({ directory, repo: "me/shop" })
const products = store.collection("products")

await products.insert({ name: "Tea", price: 3 }, { id: "tea" })
const tea = await products.get("tea")
console.log(`${tea?.["name"]} costs ${tea?.["price"]}`)
console.log("nothing there:", await products.get("coffee"))

try {
  await products.insert({ name: "Another tea" }, { id: "tea" })
} catch (error) {
  if (error instanceof ConflictError) console.log(`${error.name}: ${error.message}`)
}

await store.batch(async (batch) => {
  await batch.put("products", "tea", { name: "Tea", price: 4 })
  await batch.put("products", "cake", { name: "Cake", price: 5 })
})
const ids: Array<string> = []
for await (const document of products.all()) ids.push(document._id)
console.log(ids.join(", "))
console.log(`${(await products.history("tea")).length} commits`)
