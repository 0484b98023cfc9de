/** The look of the interactive page, light and dark. */
export const style = `:root {
  color-scheme: light dark;
  --back: #ffffff; --text: #1b1f24; --soft: #57606a; --line: #d0d7de; --panel: #f6f8fa;
  --link: #0550ae; --get: #0a5c36; --post: #0b4f9e; --good: #0a5c36; --bad: #a40e26; --button: #0b4f9e;
}
@media (prefers-color-scheme: dark) {
  :root {
    --back: #0d1117; --text: #e6edf3; --soft: #a3adb8; --line: #3d444d; --panel: #161b22;
    --link: #79c0ff; --get: #7ee2a8; --post: #79c0ff; --good: #7ee2a8; --bad: #ffa198; --button: #1f6feb;
  }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 60rem; padding: 1rem; background: var(--back); color: var(--text); font: 1rem/1.5 system-ui, sans-serif; }
a { color: var(--link); }
h1 { margin: 0; font-size: 1.6rem; }
h2 { margin: 0; font-size: 1.1rem; }
h3 { margin: 1rem 0 .25rem; font-size: 1rem; }
p { margin: .25rem 0; }
.soft { color: var(--soft); }
.operation { margin: 1rem 0; padding: 1rem; border: 1px solid var(--line); border-radius: .5rem; }
.method { font-family: ui-monospace, monospace; font-weight: 700; }
.get { color: var(--get); }
.post { color: var(--post); }
code, pre, textarea { font: .875rem/1.45 ui-monospace, monospace; }
pre { margin: .25rem 0; padding: .75rem; overflow: auto; max-height: 24rem; background: var(--panel); border: 1px solid var(--line); border-radius: .375rem; white-space: pre-wrap; overflow-wrap: anywhere; }
label { display: block; margin-top: .75rem; font-weight: 600; }
select, textarea { width: 100%; padding: .5rem; color: var(--text); background: var(--back); border: 1px solid var(--soft); border-radius: .375rem; }
select { min-height: 2.5rem; }
button { margin-top: .75rem; min-height: 2.5rem; padding: 0 1rem; font: inherit; font-weight: 600; color: #ffffff; background: var(--button); border: 0; border-radius: .375rem; cursor: pointer; }
button[disabled] { opacity: .7; cursor: progress; }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
table { width: 100%; border-collapse: collapse; }
th, td { padding: .25rem .5rem .25rem 0; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line); }
.good { color: var(--good); font-weight: 600; }
.bad { color: var(--bad); font-weight: 600; }
details { margin-top: .75rem; }
summary { cursor: pointer; min-height: 1.5rem; }
@media (prefers-reduced-motion: no-preference) { html { scroll-behavior: smooth; } }
`
