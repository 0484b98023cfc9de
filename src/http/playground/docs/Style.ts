import { tokens } from "./DesignTokens.js"

/** The style of the interactive page, for light and dark themes. */
export const style = `${tokens}* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); }
header, main { margin: 0 auto; max-width: 60rem; padding: 0 var(--space-24); }
header { padding-top: var(--space-24); }
a { color: var(--accent); text-underline-offset: 3px; }
nav ul { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 15rem), 1fr)); gap: var(--space-12); margin: var(--space-14) 0 var(--space-24); padding: 0; list-style: none; }
nav li { padding: var(--space-14) var(--space-16); border: 1px solid var(--line); border-radius: 14px; background: var(--surface); }
nav a { display: inline-flex; align-items: center; min-height: 28px; font-weight: 600; }
h1 { margin: 0; font-size: var(--text-xl); font-weight: 650; letter-spacing: -.02em; }
h2 { margin: 0; font-size: var(--text-l); font-weight: 650; overflow-wrap: anywhere; }
p { margin: var(--space-4) 0; }
.soft { color: var(--ink-soft); }
.operation { margin: var(--space-14) 0; padding: var(--space-20); border: 1px solid var(--line); border-radius: 14px; background: var(--surface); }
.method { font-family: var(--mono); font-weight: 700; }
.get { color: var(--good); }
.post { color: var(--accent); }
code, pre, textarea { font: var(--text-m)/1.6 var(--mono); }
pre { margin: var(--space-8) 0 0; padding: var(--space-10) var(--space-12); overflow: auto; max-height: 24rem; background: var(--sunken); border-radius: 8px; white-space: pre-wrap; overflow-wrap: anywhere; }
label { display: block; margin-top: var(--space-12); color: var(--ink-soft); font-size: var(--text-s); font-weight: 550; }
select, textarea { width: 100%; min-height: 36px; padding: var(--space-8) var(--space-10); color: var(--ink); background: var(--surface); border: 1px solid var(--line-strong); border-radius: 8px; }
select { font: inherit; }
button { margin-top: var(--space-12); min-height: 36px; padding: 0 var(--space-14); font: inherit; font-weight: 550; color: var(--accent-ink); background: var(--accent); border: 1px solid transparent; border-radius: 8px; cursor: pointer; }
button[disabled] { color: var(--ink-soft); background: var(--sunken); cursor: progress; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
table { width: 100%; border-collapse: collapse; }
th, td { padding: var(--space-4) var(--space-8) var(--space-4) 0; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line); }
.good { color: var(--good); font-weight: 600; }
.bad { color: var(--bad); font-weight: 600; }
details { margin-top: var(--space-12); }
summary { cursor: pointer; min-height: 1.5rem; }
`
