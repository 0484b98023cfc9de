import { tokens } from "./DesignTokens.js"

/** The style of the interactive page, for light and dark themes. */
export const style = `${tokens}* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); }
header, main { margin: 0 auto; max-width: 60rem; padding: 0 1.5rem; }
header { padding-top: 1.75rem; }
a { color: var(--accent); text-underline-offset: 3px; }
nav ul { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 15rem), 1fr)); gap: .75rem; margin: 1rem 0 1.75rem; padding: 0; list-style: none; }
nav li { padding: 14px 16px; border: 1px solid var(--line); border-radius: 14px; background: var(--surface); }
nav a { display: inline-flex; align-items: center; min-height: 28px; font-weight: 600; }
h1 { margin: 0; font-size: 1.6rem; font-weight: 650; letter-spacing: -.02em; }
h2 { margin: 0; font-size: 1.1rem; font-weight: 650; overflow-wrap: anywhere; }
p { margin: .25rem 0; }
.soft { color: var(--ink-soft); }
.operation { margin: 1rem 0; padding: 20px 22px; border: 1px solid var(--line); border-radius: 14px; background: var(--surface); }
.method { font-family: var(--mono); font-weight: 700; }
.get { color: var(--good); }
.post { color: var(--accent); }
code, pre, textarea { font: .88rem/1.6 var(--mono); }
pre { margin: .5rem 0 0; padding: 10px 12px; overflow: auto; max-height: 24rem; background: var(--sunken); border-radius: 8px; white-space: pre-wrap; overflow-wrap: anywhere; }
label { display: block; margin-top: .75rem; color: var(--ink-soft); font-size: .85rem; font-weight: 550; }
select, textarea { width: 100%; min-height: 36px; padding: 8px 10px; color: var(--ink); background: var(--surface); border: 1px solid var(--line-strong); border-radius: 8px; }
select { font: inherit; }
button { margin-top: .75rem; min-height: 36px; padding: 0 14px; font: inherit; font-weight: 550; color: var(--accent-ink); background: var(--accent); border: 1px solid transparent; border-radius: 8px; cursor: pointer; }
button[disabled] { color: var(--ink-soft); background: var(--sunken); cursor: progress; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
table { width: 100%; border-collapse: collapse; }
th, td { padding: .25rem .5rem .25rem 0; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line); }
.good { color: var(--good); font-weight: 600; }
.bad { color: var(--bad); font-weight: 600; }
details { margin-top: .75rem; }
summary { cursor: pointer; min-height: 1.5rem; }
`
