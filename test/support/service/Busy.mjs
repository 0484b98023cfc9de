// Loaded before a service under test: on SIGUSR2 it holds the event loop for 400 ms.
process.on("SIGUSR2", () => {
  const began = performance.now()
  while (performance.now() - began < 400);
})
