import type { Snippet } from "./Pages.js"
import { type SnippetContext, snippetContexts } from "./SnippetContext.js"

/** Where a name that a snippet uses without an import comes from, as the page has told before. */
const origins: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries({
    effect:
      "Cause Chunk Config ConfigProvider Context Effect Exit FastCheck Layer Logger ManagedRuntime Metric Option pipe Redacted Schedule Schema Stream",
    "chainstore/chain": "Chain ChainBuilder Logging Policy",
    "chainstore/store":
      "AsyncCache AuthError Cache Collection fromCsv fromDbapi fromMongo fromSql GitHub GitRemote isUniqueViolation Memory MemoryCache RateLimitError Store StoreCache StoreError decorate",
    "chainstore/local": "GitHost LocalGit openGit openLocal",
    "chainstore/merge": "fieldsOfSchema mergeDocuments MergeRuleId",
    "chainstore/promise": "openStore",
    "chainstore/layers": "Service Settings",
    "chainstore/testing": "CacheLaws ChainLaws RandomProgram RemoteLaws StoreLaws",
    "@effect/platform": "FetchHttpClient HttpApiEndpoint HttpRouter"
  }).flatMap(([module, names]) => names.split(" ").map((name) => [name, module]))
)

const statement = /^import [^"]*"([^"]+)".*\n/gm

/** Indents nothing and changes nothing of a snippet but where its imports stand. */
export const programOf = ({ code, name }: Snippet): string => {
  const {
    after = "",
    before = "",
    imports = "",
    store = false
  }: SnippetContext = snippetContexts[name] ?? snippetContexts[name.replace(/ \d+$/, "")] ?? {}
  const own = [...code.matchAll(statement)].map(([text]) => text).join("") + imports
  const body = code.replace(statement, "").replace(/^Effect\.runPromise\(/gm, "await Effect.runPromise(")
  const inside = `${before}\n${body}\n${after}`
  const wrapped =
    store || /^(const .* = )?yield\*/m.test(body)
      ? `await Effect.runPromise(Effect.gen(function* () {\nconst store = yield* Store\n${inside}\n}).pipe(Effect.provide(Store.layer().pipe(Layer.provideMerge(Memory.layer()))), Effect.scoped))`
      : inside
  const missing = Object.entries(origins)
    .filter(([word]) => new RegExp(`\\b${word}\\b`).test(wrapped))
    .filter(([word]) => !new RegExp(`^import [^"]*\\b${word}\\b`, "m").test(own))
    .filter(([word]) => !new RegExp(`\\b(class|const) ${word}\\b`).test(wrapped))
    .map(([word, module]) => `import { ${word} } from "${module}"\n`)
  return `${missing.join("")}${own}\n${wrapped}\nexport {}\n`
}
