import MarkdownIt from "markdown-it"
import { type Application, type DeclarationReflection, ReflectionKind, Renderer, type Router } from "typedoc"

/** The contents of the files of the reference, by path. */
export type Files = ReadonlyMap<string, string>

/** An entry of the search index: a name, the module that exports it, and its address. */
type SearchEntry = readonly [name: string, module: string, href: string]

const searchedKinds =
  ReflectionKind.SomeModule |
  ReflectionKind.ClassOrInterface |
  ReflectionKind.TypeAlias |
  ReflectionKind.Function |
  ReflectionKind.Variable |
  ReflectionKind.Method |
  ReflectionKind.Property |
  ReflectionKind.Accessor

/** Converts a link to a Markdown file to a link to its page. */
const html = (href: string) => href.replace(/\.md(?=#|$)/, ".html")

const inModule = (reflection: DeclarationReflection): readonly [name: string, module: string] => {
  const names: Array<string> = []
  let at: typeof reflection.parent = reflection
  for (; at !== undefined && !at.kindOf(ReflectionKind.Module); at = at.parent)
    if (!at.kindOf(ReflectionKind.TypeLiteral)) names.unshift(at.name)
  return [names.join("."), at?.name ?? ""]
}

/** The search index of the pages that the application writes. It is complete after they are written. */
export const searchOf = (app: Application): ReadonlyArray<SearchEntry> => {
  const index: Array<SearchEntry> = []
  app.renderer.on(Renderer.EVENT_END, ({ project }) => {
    const router: Router | undefined = app.renderer.router
    for (const reflection of project.getReflectionsByKind(searchedKinds)) {
      if (!reflection.isDeclaration() || reflection.inheritedFrom !== undefined) continue
      if (router?.hasUrl(reflection) !== true) continue
      const [name, module] = inModule(reflection)
      // The URL of a member without a heading contains the anchor of its parent too.
      const [page = "", ...anchors] = html(router.getFullUrl(reflection)).split("#")
      const href = anchors.length === 0 ? page : `${page}#${anchors.at(-1)}`
      index.push([name === "" ? module : name, module, href])
    }
  })
  return index
}

const escaped = (text: string) =>
  text.replace(/[&<>"]/g, (one) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[one] ?? one)

const markdown = new MarkdownIt({ html: true })

/** Renders the Markdown of a page. Anchors become the ids of their headings. */
const contentOf = (text: string): string => {
  const tokens = markdown.parse(text.replace(/\n#+ Since\n\n(\S+)\n/g, "\n*Since $1*\n"), {})
  for (const token of tokens)
    for (const inline of token.children ?? []) {
      const target = inline.type === "link_open" ? inline.attrGet("href") : null
      if (target !== null) inline.attrSet("href", html(target))
    }
  return markdown.renderer
    .render(tokens, markdown.options, {})
    .replace(/<p><a id="([^"]+)"><\/a><\/p>\n<(h\d)>/g, '<$2 id="$1">')
    .replace(/<a id="type-parameter-[^"]*"><\/a> /g, "")
}

const titleOf = (path: string): string => path.replace(/(\/?index)?\.md$/, "").replace("/namespaces/", ": ")

/** The relative path from a page to the root of the reference. */
const up = (path: string) => "../".repeat(path.split("/").length - 1)

const frame = (path: string, title: string, links: string, content: string) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(title)}</title>
<link rel="icon" href="${up(path)}../icon.svg">
<link rel="stylesheet" href="${up(path)}page.css">
<script src="${up(path)}search.js" data-root="${up(path)}" defer></script>
</head>
<body>
<header>
<p><a href="${up(path)}index.html">Chainstore API reference</a></p>
<form role="search" hidden>
<label for="search">Search</label>
<input id="search" type="search" autocomplete="off" spellcheck="false">
<p role="status"></p>
<ul></ul>
</form>
<nav aria-label="Modules">
<details><summary>Modules</summary>
<ul>
${links}
</ul>
</details>
</nav>
</header>
<main>
${content}</main>
</body>
</html>
`

/** The HTML pages for TypeDoc's Markdown, each with links to all modules, and the index for `search.js`. */
export const pagesOf = (written: Files, search: ReadonlyArray<SearchEntry>): Files => {
  const modules = [...written.keys()].filter((path) => path !== "index.md").sort()
  const page = (path: string, text: string): readonly [string, string] => {
    const title = path === "index.md" ? "Chainstore API reference" : titleOf(path)
    const links = modules.map((other) => {
      const current = other === path ? ' aria-current="page"' : ""
      return `<li><a href="${up(path)}${html(other)}"${current}>${escaped(titleOf(other))}</a></li>`
    })
    return [html(path), frame(path, title, links.join("\n"), contentOf(text))]
  }
  return new Map([
    ...Array.from(written, ([path, text]) => page(path, text)),
    ["search.json", JSON.stringify(search)]
  ])
}
