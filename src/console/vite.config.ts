import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import preact from "@preact/preset-vite"
import { defineConfig, type Plugin } from "vite"
import { notices } from "../../build/notices.js"
import { tokens } from "../http/playground/docs/DesignTokens.js"

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))

interface ConsoleConfig {
  readonly apis: ReadonlyArray<{ readonly apiUrl: string; readonly rawUrl?: string }>
}

/** The addresses that the hosted page may talk to; `CHAINSTORE_CONSOLE_CONFIG` names another file. */
const configFile = process.env["CHAINSTORE_CONSOLE_CONFIG"] ?? here("./config.json")

const policy = (connect: ReadonlyArray<string>) =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "font-src 'self'",
    `connect-src ${["'self'", ...connect].join(" ")}`,
    "base-uri 'none'",
    "form-action 'none'"
  ].join("; ")

/** Writes `config.json` beside the page, and the content security policy that follows from it into the pages. */
const hostedConfig = (): Plugin => {
  const text = readFileSync(configFile, "utf8")
  const config = JSON.parse(text) as ConsoleConfig
  const origins = [
    ...new Set(config.apis.flatMap((api) => [api.apiUrl, ...(api.rawUrl === undefined ? [] : [api.rawUrl])]))
  ].map((address) => new URL(address).origin)
  return {
    name: "chainstore-console-config",
    generateBundle() {
      this.emitFile({ type: "asset", fileName: "config.json", source: text })
    },
    transformIndexHtml: (_html, { path }) => [
      {
        tag: "meta",
        attrs: {
          "http-equiv": "Content-Security-Policy",
          content: policy(path === "/index.html" ? [...new Set(origins)] : [])
        },
        injectTo: "head-prepend"
      },
      { tag: "meta", attrs: { name: "referrer", content: "no-referrer" }, injectTo: "head-prepend" }
    ]
  }
}

/** Puts the colours, sizes and fonts that all pages share beside the rules of the console's. */
const sharedTokens = (): Plugin => ({
  name: "chainstore-console-tokens",
  enforce: "pre",
  transform: (code, id) => (id.endsWith("/console/styles.css") ? `${code}\n${tokens}` : undefined)
})

/** What the pages never call, although code that they load refers to it, and the exports that stand in for it. */
const neverCalled = {
  // The pages read JSON Schemas and derive none of schemas of Effect.
  "/src/store/internal/WriteJsonSchema.ts": ["writeSchema"],
  // An effect can yield a `Micro`: the pages have none.
  "/effect/dist/esm/Micro.js": ["runFork", "provideContext"],
  // Browsers show no script the `Set-Cookie` of a reply.
  "/@effect/platform/dist/esm/Cookies.js": ["fromSetCookie", "isEmpty", "merge", "toCookieHeader"]
}

/** Leaves such modules out of the bundle: together they would be 3 kB of what the sign-in form and the table load. */
const withoutNeverCalled = (): Plugin => ({
  name: "chainstore-console-without-never-called",
  enforce: "pre",
  load: (id) =>
    Object.entries(neverCalled)
      .filter(([path]) => id.endsWith(path))
      .map(([path, names]) =>
        names
          .map((name) => `export const ${name} = () => { throw new Error("the console has no ${path}") }`)
          .join("\n")
      )[0]
})

/** Writes the licences of the packages whose code and fonts the pages load. */
const thirdParty = (): Plugin => ({
  name: "chainstore-console-third-party",
  generateBundle(_, bundle) {
    const files = Object.values(bundle).flatMap((file) =>
      file.type === "chunk"
        ? file.moduleIds.map((id) => id.replace("\0", ""))
        : file.originalFileNames.map((name) => here(name))
    )
    this.emitFile({
      type: "asset",
      fileName: "THIRD-PARTY.md",
      source: notices("The files of the console contain these packages.", files)
    })
  }
})

export default defineConfig({
  root: here("."),
  base: "./",
  publicDir: here("./public"),
  plugins: [
    sharedTokens(),
    withoutNeverCalled(),
    preact({ devToolsEnabled: false, prefreshEnabled: false }),
    hostedConfig(),
    thirdParty()
  ],
  build: {
    outDir: here("../../dist/console"),
    emptyOutDir: true,
    target: "es2022",
    // 5 % smaller after gzip than what esbuild makes.
    minify: "terser",
    terserOptions: { module: true, ecma: 2022, compress: { passes: 4, pure_getters: true } },
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rollupOptions: {
      input: {
        hosted: here("./index.html"),
        local: here("./local/index.html"),
        playground: here("./playground/index.html")
      }
    }
  }
})
