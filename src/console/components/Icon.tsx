const paths = {
  moon: "M20 14.5A8 8 0 0 1 9.5 4a8 8 0 1 0 10.5 10.5Z",
  sun: "M12 4V2M12 22v-2M4 12H2M22 12h-2M6.3 6.3 4.9 4.9M19.1 19.1l-1.4-1.4M6.3 17.7l-1.4 1.4M19.1 4.9l-1.4 1.4M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8Z",
  system: "M4 5h16v11H4zM9 20h6M12 16v4",
  close: "M6 6l12 12M18 6 6 18",
  plus: "M12 5v14M5 12h14",
  copy: "M9 9h10v11H9zM15 9V4H5v11h4",
  down: "m6 9 6 6 6-6",
  up: "m6 15 6-6 6 6",
  clock: "M12 7v5l3 2M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18Z",
  table: "M4 5h16v14H4zM4 10h16M10 10v9",
  columns: "M4 5h16v14H4zM9.3 5v14M14.6 5v14",
  save: "M12 4v11M7 11l5 5 5-5M5 20h14",
  load: "M12 15V4M7 9l5-5 5 5M5 20h14",
  home: "M4 11 12 4l8 7M6 10v10h12V10M10 20v-6h4v6",
  search: "M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14ZM20 20l-4-4",
  key: "M14.5 9.5a4.5 4.5 0 1 0-4 4.5l1-1h2v-2h2l3-3",
  out: "M14 4h5v16h-5M10 8l-4 4 4 4M6 12h9",
  chain: "M10 8H8a4 4 0 0 0 0 8h2M14 8h2a4 4 0 0 1 0 8h-2M9 12h6",
  play: "M8 5v14l11-7z",
  stop: "M7 7h10v10H7z",
  check: "m5 12 5 5 9-10",
  back: "M20 12H5M11 6l-6 6 6 6",
  undo: "M9 6 4 11l5 5M4 11h10a6 6 0 0 1 0 9h-3",
  redo: "m15 6 5 5-5 5M20 11H10a6 6 0 0 0 0 9h3"
} as const

export type IconName = keyof typeof paths

/** A decorative icon next to text. */
export const Icon = ({ name }: { readonly name: IconName }) => (
  <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
    <path d={paths[name]} />
  </svg>
)
