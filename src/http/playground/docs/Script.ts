/**
 * The script of the interactive page. It builds the page from the OpenAPI file with text nodes only, never with
 * markup.
 */
export const script = `"use strict"
const element = (name, attributes, ...children) => {
  const made = document.createElement(name)
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value)
  made.append(...children)
  return made
}
const pretty = (value) => JSON.stringify(value, null, 2)
const parsed = (text) => { try { return pretty(JSON.parse(text)) } catch { return text } }

const statuses = (responses) => element("table", {},
  element("thead", {}, element("tr", {}, element("th", { scope: "col" }, "Status"), element("th", { scope: "col" }, "When"))),
  element("tbody", {}, ...Object.entries(responses).map(([status, response]) =>
    element("tr", {}, element("td", {}, status), element("td", {}, response.description || "")))))

const tryIt = (method, path, operation) => {
  const id = operation.operationId
  const form = element("form", { "aria-label": "Try " + (operation.summary || id) })
  const media = operation.requestBody && operation.requestBody.content["application/json"]
  let area
  if (media) {
    const examples = Object.entries(media.examples || {})
    area = element("textarea", { id: id + "-body", rows: "10", spellcheck: "false", autocomplete: "off" })
    if (examples.length > 0) {
      const choice = element("select", { id: id + "-example" },
        ...examples.map(([name, example]) => element("option", { value: name }, example.summary || name)))
      choice.addEventListener("change", () => { area.value = pretty(media.examples[choice.value].value) })
      form.append(element("label", { for: id + "-example" }, "Example"), choice)
      area.value = pretty(examples[0][1].value)
    }
    form.append(element("label", { for: id + "-body" }, "Request body"), area)
  }
  const button = element("button", { type: "submit" }, "Send")
  const status = element("p", { role: "status" })
  const output = element("pre", { tabindex: "0", role: "group", "aria-label": "Response body", hidden: "" })
  form.append(button, status, output)
  form.addEventListener("submit", async (event) => {
    event.preventDefault()
    button.disabled = true
    const started = performance.now()
    try {
      const response = await fetch(path, area
        ? { method, body: area.value, headers: { "content-type": "application/json" } }
        : { method })
      const text = await response.text()
      status.className = response.ok ? "good" : "bad"
      status.textContent = response.status + " " + response.statusText + " in " + Math.round(performance.now() - started) + " ms"
      output.textContent = parsed(text)
    } catch (error) {
      status.className = "bad"
      status.textContent = "The service did not answer: " + error.message
      output.textContent = ""
    }
    output.hidden = output.textContent === ""
    button.disabled = false
  })
  return form
}

const section = (path, method, operation) => element("section", { class: "operation", "aria-labelledby": operation.operationId },
  element("h2", { id: operation.operationId },
    element("span", { class: "method " + method }, method.toUpperCase()), " ", element("code", {}, path)),
  element("p", {}, operation.summary || ""),
  element("p", { class: "soft" }, operation.description || ""),
  element("details", {}, element("summary", {}, "Answers"), statuses(operation.responses)),
  tryIt(method.toUpperCase(), path, operation))

const show = async () => {
  const main = document.getElementById("operations")
  const about = document.getElementById("about")
  try {
    const response = await fetch("/v1/openapi.json")
    if (!response.ok) throw new Error("status " + response.status)
    const api = await response.json()
    document.getElementById("title").textContent = api.info.title + " " + api.info.version
    about.textContent = api.info.description || ""
    for (const [path, methods] of Object.entries(api.paths))
      for (const [method, operation] of Object.entries(methods)) main.append(section(path, method, operation))
    main.append(element("details", {}, element("summary", {}, "Schemas"),
      element("pre", { tabindex: "0", role: "group", "aria-label": "Schemas" }, pretty(api.components.schemas))))
  } catch (error) {
    about.className = "bad"
    about.textContent = "The description could not be loaded: " + error.message
  }
  main.setAttribute("aria-busy", "false")
}
show()
`
