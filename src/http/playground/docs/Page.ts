/** A link to another page of the service. */
export interface Link {
  readonly href: string
  readonly text: string
  /** A sentence about the page. */
  readonly about: string
}

const openApi: Link = {
  href: "/v1/openapi.json",
  text: "OpenAPI file",
  about: "The operations below, for programs that generate clients or tests."
}

const entry = ({ about, href, text }: Link) =>
  `<li><a href="${href}">${text}</a><p class="soft">${about}</p></li>`

/** The HTML of the interactive page. Its script adds the operations of the OpenAPI file. */
export const html = (links: ReadonlyArray<Link>) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Chain Playground API</title>
<link rel="icon" href="/docs/icon.svg">
<link rel="stylesheet" href="/docs/page.css">
<script src="/docs/page.js" defer></script>
</head>
<body>
<header>
<h1 id="title">Chain Playground API</h1>
<p id="about">Loading the description…</p>
<nav aria-label="Entries"><ul>${[...links, openApi].map(entry).join("")}</ul></nav>
</header>
<main id="operations" aria-busy="true"></main>
<noscript><p>This page needs JavaScript; the <a href="/v1/openapi.json">OpenAPI file</a> does not.</p></noscript>
</body>
</html>
`
