import type { Page } from "playwright-core"

/**
 * How two pictures are compared: by the mean colour of square cells. `fine` cells, for pictures of one renderer, find a
 * changed letter. `coarse` ones, for pictures of two renderers, do not see that these draw the edges of letters
 * differently.
 */
export type Comparison = "fine" | "coarse"

export interface Compared {
  /** Cells that differ. */
  readonly different: number
  /** Where they are, in pixels of the picture: left, top, right, bottom. */
  readonly box: readonly [number, number, number, number]
  /** A PNG of the actual picture, pale, with the differences in red. */
  readonly picture: Buffer
}

// What runs in the page sees a DOM; this file does not.
type Dom = any
declare const createImageBitmap: Dom
declare const OffscreenCanvas: Dom

const rules = {
  // One renderer's pictures of one page differ by single pixels, which the encoding spreads.
  fine: { size: 4, tolerance: 12 },
  coarse: { size: 12, tolerance: 16 }
} as const

/** Compares two pictures in `page`, whose browser decodes them. Returns undefined if they are alike. */
export const comparePictures = async (
  page: Page,
  expected: Buffer,
  actual: Buffer,
  comparison: Comparison
): Promise<Compared | undefined> => {
  if (expected.equals(actual)) return undefined
  const found = await page.evaluate(
    async ({ actual, expected, size, tolerance }) => {
      const decoded = async (base64: string) => {
        const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0))
        const bitmap = await createImageBitmap(new Blob([bytes]))
        const canvas = new OffscreenCanvas(bitmap.width, bitmap.height)
        const context = canvas.getContext("2d", { willReadFrequently: true })
        context.drawImage(bitmap, 0, 0)
        return { canvas, context, pixels: context.getImageData(0, 0, bitmap.width, bitmap.height) }
      }
      const [one, other] = await Promise.all([decoded(expected), decoded(actual)])
      const width = Math.max(one.canvas.width, other.canvas.width)
      const height = Math.max(one.canvas.height, other.canvas.height)
      const mean = ({ data, height: rows, width: columns }: Dom, left: number, top: number) => {
        const sum = [0, 0, 0]
        let count = 0
        for (let y = top; y < Math.min(top + size, rows); y++) {
          for (let x = left; x < Math.min(left + size, columns); x++) {
            for (const channel of [0, 1, 2]) sum[channel]! += data[(y * columns + x) * 4 + channel]
            count++
          }
        }
        return sum.map((value) => (count === 0 ? -255 : value / count))
      }
      const cells: Array<readonly [number, number]> = []
      for (let y = 0; y < height; y += size) {
        for (let x = 0; x < width; x += size) {
          const a = mean(one.pixels, x, y)
          const b = mean(other.pixels, x, y)
          if (a.some((value, channel) => Math.abs(value - b[channel]!) > tolerance)) cells.push([x, y])
        }
      }
      if (cells.length === 0) return undefined
      const { canvas, context } = other
      context.fillStyle = "rgb(255 255 255 / 70%)"
      context.fillRect(0, 0, width, height)
      context.fillStyle = "rgb(255 0 0 / 70%)"
      for (const [x, y] of cells) context.fillRect(x, y, size, size)
      const drawn = new Uint8Array(await (await canvas.convertToBlob({ type: "image/png" })).arrayBuffer())
      let picture = ""
      for (const byte of drawn) picture += String.fromCharCode(byte)
      const columns = cells.map(([x]) => x)
      const rows = cells.map(([, y]) => y)
      const least = (values: ReadonlyArray<number>) => values.reduce((a, b) => Math.min(a, b))
      const most = (values: ReadonlyArray<number>) => values.reduce((a, b) => Math.max(a, b))
      return {
        different: cells.length,
        box: [least(columns), least(rows), most(columns) + size, most(rows) + size] as const,
        picture: btoa(picture)
      }
    },
    { expected: expected.toString("base64"), actual: actual.toString("base64"), ...rules[comparison] }
  )
  return found === undefined ? undefined : { ...found, picture: Buffer.from(found.picture, "base64") }
}

/**
 * A picture as it is kept: a third of the bytes of a PNG. The encoder loses detail, but of two equal pictures the same:
 * a picture is compared after its own encoding.
 */
export const toWebp = async (page: Page, png: Buffer): Promise<Buffer> => {
  const base64 = await page.evaluate(async (data) => {
    const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0))
    const bitmap = await createImageBitmap(new Blob([bytes]))
    const canvas = new OffscreenCanvas(bitmap.width, bitmap.height)
    canvas.getContext("2d").drawImage(bitmap, 0, 0)
    const blob = await canvas.convertToBlob({ type: "image/webp", quality: 0.5 })
    let text = ""
    for (const byte of new Uint8Array(await blob.arrayBuffer())) text += String.fromCharCode(byte)
    return btoa(text)
  }, png.toString("base64"))
  return Buffer.from(base64, "base64")
}
