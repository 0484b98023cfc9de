/** The look of the interactive page, light and dark: the colours and forms are those of the console. */
export const style = `:root {
  color-scheme: light dark;
  --paper: light-dark(#f6f5f1, #12171a); --surface: light-dark(#ffffff, #192024); --sunken: light-dark(#f0eee8, #151b1f);
  --ink: light-dark(#1c2a31, #e3eaec); --ink-soft: light-dark(#52626b, #a5b3ba);
  --line: light-dark(#dedbd2, #2e393f); --line-strong: light-dark(#848f95, #74838b);
  --accent: light-dark(#14606f, #7fd0de); --accent-ink: light-dark(#ffffff, #0b2228);
  --good: light-dark(#1d6b3c, #86d7a3); --bad: light-dark(#9c2f22, #ffab9c);
  --mono: ui-monospace, "SF Mono", Menlo, Consolas, monospace;
  font: 15px/1.5 "Inter Variable", ui-sans-serif, system-ui, "Segoe UI", Roboto, sans-serif;
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); }
header, main { margin: 0 auto; max-width: 60rem; padding: 0 1.5rem; }
header { padding-top: 1.75rem; }
a { color: var(--accent); text-underline-offset: 3px; }
nav { display: flex; flex-wrap: wrap; gap: 0 1.1rem; margin: .5rem 0; }
nav a { display: inline-flex; align-items: center; min-height: 28px; }
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
