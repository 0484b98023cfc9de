// Finds names of the reference; the index is loaded when somebody begins to type.
const root = document.currentScript.dataset.root
const form = document.querySelector("form[role=search]")
const input = form.querySelector("input")
const status = form.querySelector("[role=status]")
const list = form.querySelector("ul")
let loading

const load = () => (loading ??= fetch(`${root}search.json`).then((response) => response.json()))

/** Lower is better: the whole name, its end after a dot, its beginning, anywhere. */
const rank = (name, wanted) => {
  if (name === wanted) return 0
  if (name.endsWith(`.${wanted}`)) return 1
  if (name.startsWith(wanted)) return 2
  return name.includes(wanted) ? 3 : 4
}

const show = async () => {
  const wanted = input.value.trim().toLowerCase()
  list.replaceChildren()
  status.textContent = ""
  if (wanted === "") return
  let index
  try {
    index = await load()
  } catch {
    loading = undefined
    status.textContent = "The index could not be loaded"
    return
  }
  if (wanted !== input.value.trim().toLowerCase()) return
  const found = index
    .map(([name, module, href]) => ({ name, module, href, rank: rank(name.toLowerCase(), wanted) }))
    .filter((one) => one.rank < 4)
    .sort((a, b) => a.rank - b.rank || a.name.length - b.name.length)
  status.textContent = `${found.length} found`
  list.replaceChildren(
    ...found.slice(0, 30).map(({ href, module, name }) => {
      const item = document.createElement("li")
      const link = document.createElement("a")
      link.href = root + href
      link.textContent = name
      item.append(link, ` ${module}`)
      return item
    })
  )
}

form.hidden = false
form.addEventListener("submit", (event) => event.preventDefault())
input.addEventListener("input", show)
