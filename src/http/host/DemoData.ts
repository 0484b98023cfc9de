import type { JsonObject } from "../../domain/json/Json.js"

/** Documents with their ids. */
export type Documents = ReadonlyArray<readonly [id: string, document: JsonObject]>

/** A pseudo-random number generator with a fixed seed, so that the demo data is the same on every machine. */
const numbers = (seed: number) => {
  let state = seed
  return (below: number) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

const slug = (text: string) => text.toLowerCase().replace(/[^a-z0-9]+/g, "-")

const categories: Readonly<Record<string, ReadonlyArray<string>>> = {
  lighting: ["Desk Lamp", "Floor Lamp", "Pendant", "Reading Light"],
  seating: ["Armchair", "Bar Stool", "Bench", "Dining Chair"],
  tables: ["Coffee Table", "Desk", "Dining Table", "Side Table"],
  storage: ["Bookcase", "Chest of Drawers", "Coat Rack", "Wall Shelf"],
  kitchen: ["Bread Knife", "Cutting Board", "Kettle", "Mixing Bowl"],
  textiles: ["Blanket", "Cushion", "Rug", "Tea Towel"],
  garden: ["Bird Feeder", "Planter", "Watering Can", "Wind Chime"],
  stationery: ["Fountain Pen", "Notebook", "Pencil Case", "Sketch Pad"],
  bath: ["Bath Mat", "Hand Towel", "Mirror", "Soap Dish"],
  travel: ["Backpack", "Duffel Bag", "Thermos", "Travel Pillow"]
}

const materials = ["Oak", "Walnut", "Linen", "Steel", "Ceramic"]

const suppliers = [
  { name: "Nordlys Werksted", country: "DK" },
  { name: "Ateliers Moreau", country: "FR" },
  { name: "Kiyomizu Craft", country: "JP" },
  { name: "Holzmanufaktur Jäger", country: "DE" },
  { name: "Taller Río Verde", country: "ES" }
]

/** 200 products, 20 in each of ten categories. */
export const products = (): Documents => {
  const next = numbers(7)
  return Object.entries(categories).flatMap(([category, things]) =>
    materials.flatMap((material) =>
      things.map((thing): readonly [string, JsonObject] => [
        slug(`${material} ${thing}`),
        {
          name: `${material} ${thing}`,
          category,
          price: { amount: (9 + next(490)) * 100 - 1, currency: "EUR" },
          stock: next(9) === 0 ? 0 : next(240),
          rating: Math.round((3 + next(21) / 10) * 10) / 10,
          tags: [slug(material), ...(next(4) === 0 ? ["new"] : []), ...(next(5) === 0 ? ["sale"] : [])],
          supplier: suppliers[next(suppliers.length)]!,
          discontinued: next(20) === 0
        }
      ])
    )
  )
}

const features: ReadonlyArray<readonly [id: string, description: string, owner: string]> = [
  ["checkout-one-page", "All of checkout on one page", "checkout"],
  ["checkout-express-pay", "Pay from the product page", "checkout"],
  ["checkout-gift-cards", "Take gift cards as payment", "checkout"],
  ["checkout-invoice", "Pay by invoice within 14 days", "checkout"],
  ["search-typo-tolerance", "Find what was meant, not what was typed", "search"],
  ["search-facets-v2", "Filters that show how much each would leave", "search"],
  ["search-voice", "Search by speaking", "search"],
  ["search-recent", "Show what was searched for last", "search"],
  ["catalog-3d-view", "Turn products around in the browser", "catalog"],
  ["catalog-compare", "Compare up to four products", "catalog"],
  ["catalog-back-in-stock", "Tell me when it is back", "catalog"],
  ["account-passkeys", "Sign in with a passkey", "identity"],
  ["account-sessions-page", "See and end your sessions", "identity"],
  ["account-magic-link", "Sign in by a link in an e-mail", "identity"],
  ["ui-dark-theme", "Dark theme that follows the system", "web"],
  ["ui-new-navigation", "Navigation on the side of wide screens", "web"],
  ["ui-reduced-motion", "Less motion where it is asked for", "web"],
  ["ops-read-replica", "Serve the catalog from the replica", "platform"],
  ["ops-edge-cache", "Cache pages at the edge for a minute", "platform"],
  ["ops-verbose-traces", "Trace every request instead of one in a hundred", "platform"]
]

/** 20 feature flags. */
export const flags = (): Documents => {
  const next = numbers(11)
  return features.map(([id, description, owner]) => {
    const percent = [0, 0, 5, 25, 50, 100][next(6)]!
    return [
      id,
      {
        description,
        owner,
        enabled: percent > 0,
        rollout: percent,
        environments: { development: true, staging: percent > 0, production: percent >= 25 },
        allow: percent > 0 && percent < 100 ? [`beta-${owner}`] : []
      }
    ]
  })
}

const subjects = [
  "Oak",
  "Linen",
  "Light",
  "Small Rooms",
  "Repair",
  "Colour",
  "Rain",
  "Bread",
  "Silence",
  "Tools"
]

const angles: ReadonlyArray<readonly [title: (subject: string) => string, tag: string]> = [
  [(subject) => `A Short History of ${subject}`, "history"],
  [(subject) => `Living with ${subject}`, "home"],
  [(subject) => `What ${subject} Taught Us`, "workshop"],
  [(subject) => `${subject}, Explained by Those Who Know`, "interview"],
  [(subject) => `Seven Notes on ${subject}`, "notes"]
]

const writers = ["Ines Halvorsen", "Tomás Prieto", "Mei Tanaka", "Jonas Weber", "Amélie Roux"]

const sentences = [
  "We began with a question that nobody in the workshop could answer.",
  "It took three winters, and a good deal of coffee, to see why.",
  "The old catalogues are silent on the matter, and perhaps rightly so.",
  "Ask two makers and you will hear four opinions, all of them held firmly.",
  "What looks like a detail is usually where the work is.",
  "None of it would matter if it did not also last.",
  "There is a photograph of the first attempt; we keep it out of kindness to nobody.",
  "In the end the simplest version was the one that stayed."
]

/** 50 magazine articles. */
export const articles = (): Documents => {
  const next = numbers(13)
  const paragraph = () => Array.from({ length: 3 }, () => sentences[next(sentences.length)]!).join(" ")
  return subjects.flatMap((subject, row) =>
    angles.map(([title, tag], column): readonly [string, JsonObject] => {
      const month = String(1 + ((row + column * 2) % 12)).padStart(2, "0")
      const day = String(1 + next(28)).padStart(2, "0")
      return [
        slug(title(subject)),
        {
          title: title(subject),
          author: writers[next(writers.length)]!,
          status: next(6) === 0 ? "draft" : "published",
          published_on: `2025-${month}-${day}`,
          tags: [tag, slug(subject)],
          minutes: 3 + next(9),
          body: Array.from({ length: 3 }, paragraph)
        }
      ]
    })
  )
}
