import { Effect, Layer } from "effect"
import { GitRepositories } from "../../git/disk/GitRepositories.js"
import { GitRemote } from "../../store/remote/GitRemote.js"
import { fromRepository } from "../../store/remote/local/LocalGit.js"
import { Store } from "../../store/Store.js"
import * as DemoData from "./DemoData.js"
import { Repositories } from "./repository/Repositories.js"
import * as RevisionLookup from "./repository/RevisionLookup.js"

/** The demo repository, which is public and needs no token in the console. */
export const name = { owner: "local", name: "demo" } as const

const description = "A shop, its feature flags and its magazine: something to look around in"

const author = { name: "Chainstore", email: "chainstore@localhost" }

/**
 * Writes the demo data through the store: one import commit and a few updates, so that there is a history to browse.
 */
const write = Effect.gen(function* () {
  const store = yield* Store.make({
    indexes: { products: ["category"] },
    manifests: { products: ["_rev", "_updated_at", "name", "category", "stock"] },
    author,
    committer: author
  })
  const collections = {
    products: DemoData.products(),
    flags: DemoData.flags(),
    articles: DemoData.articles()
  }
  // One commit, so that an interrupted start leaves all of the demo or none of it.
  yield* store.batch({ message: "import products, flags and articles" }, (batch) =>
    Effect.forEach(
      Object.entries(collections),
      ([collection, documents]) =>
        Effect.forEach(documents, ([id, document]) => batch.insert(collection, document, { id })),
      { discard: true }
    )
  )
  const products = store.collection("products")
  yield* products.update("oak-desk-lamp", { stock: 12 })
  yield* products.update("oak-desk-lamp", {
    price: { amount: 11900, currency: "EUR" },
    tags: ["oak", "sale"]
  })
  yield* products.update("linen-cushion", { stock: 0 })
  yield* store.collection("flags").update("ui-dark-theme", { enabled: true, rollout: 100 })
})

/** Creates and fills the demo repository, unless it exists and has a commit. */
export const seed = Effect.gen(function* () {
  const repositories = yield* Repositories
  const registry = yield* GitRepositories
  yield* repositories.create(name.owner, name.name, { private: false, description })
  const git = yield* registry.open(name.owner, name.name)
  if (!(yield* RevisionLookup.isEmpty(git))) return
  yield* Effect.provideService(write, GitRemote, fromRepository(git))
}).pipe(Effect.scoped, Effect.asVoid)

/** Seeds the demo repository. A failure is logged and does not prevent the start. */
export const layer = Layer.effectDiscard(
  Effect.catchAll(seed, (error) => Effect.logWarning("The demo repository could not be created", error))
)
