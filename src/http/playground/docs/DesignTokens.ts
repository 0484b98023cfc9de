/** The colours, spaces, sizes of type and fonts of every page: the console, the playground, the API's page and the reference. */
export const tokens = `:root {
  color-scheme: light dark;
  --paper: light-dark(#f6f5f1, #12171a);
  --surface: light-dark(#ffffff, #192024);
  --raised: light-dark(#ffffff, #212a2f);
  --sunken: light-dark(#f0eee8, #151b1f);
  --ink: light-dark(#1c2a31, #e3eaec);
  --ink-soft: light-dark(#52626b, #a5b3ba);
  --line: light-dark(#dedbd2, #2e393f);
  --line-strong: light-dark(#848f95, #74838b);
  --accent: light-dark(#14606f, #7fd0de);
  --accent-ink: light-dark(#ffffff, #0b2228);
  --accent-wash: light-dark(#e3f0f1, #17323a);
  --good: light-dark(#1d6b3c, #86d7a3);
  --good-wash: light-dark(#e5f3e8, #16311f);
  --bad: light-dark(#9c2f22, #ffab9c);
  --bad-wash: light-dark(#fbeae6, #3b1d18);
  --warn: light-dark(#7a5200, #f0c674);
  --warn-wash: light-dark(#fbf1d8, #352a10);
  --string: light-dark(#226b45, #9fd8ac);
  --number: light-dark(#85480d, #f0b983);
  --mono:
    ui-monospace, "SF Mono", "Cascadia Mono", "JetBrains Mono", Menlo, Consolas, "Liberation Mono", monospace;
  --sans: "Inter Variable", ui-sans-serif, system-ui, "Segoe UI", Roboto, "Helvetica Neue", sans-serif;
  --text-s: 0.84rem;
  --text-m: 0.9rem;
  --text-base: 1rem;
  --text-l: 1.1rem;
  --text-xl: 1.6rem;
  --text-title: clamp(1.6rem, 1.2rem + 1.6vw, 2.3rem);
  --space-2: 2px;
  --space-4: 4px;
  --space-6: 6px;
  --space-8: 8px;
  --space-10: 10px;
  --space-12: 12px;
  --space-14: 14px;
  --space-16: 16px;
  --space-20: 20px;
  --space-24: 24px;
  --space-32: 32px;
  --space-40: 40px;
  --radius: 8px;
  --shadow: 0 1px 2px rgb(10 20 25 / 8%), 0 8px 24px rgb(10 20 25 / 8%);
  font: 15px / 1.5 var(--sans);
}
@media (prefers-contrast: more) {
  :root {
    --ink-soft: var(--ink);
    --line: var(--line-strong);
  }
}
`
