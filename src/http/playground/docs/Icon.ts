/** The icon of the interactive page. */
export const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><title>Chain Playground API</title><rect width="32" height="32" rx="8" fill="#23414f"/><path d="M13 11h-2a5 5 0 0 0 0 10h2M19 11h2a5 5 0 0 1 0 10h-2M12 16h8" fill="none" stroke="#f3f0e8" stroke-width="2.6" stroke-linecap="round"/></svg>
`
