import type { Page } from "playwright-core"

/** Where a document's text is typed. */
export const editor = (page: Page) => page.locator(".editing .cm-content")

/** Opens a document of the table, then its editor. */
export const edit = async (page: Page, id: string): Promise<void> => {
  await page.locator(`#open-${id}`).click()
  await page.locator("#edit").click()
  await editor(page).waitFor()
}

/** Types a text in the place of what the editor shows. */
export const replace = async (page: Page, text: string): Promise<void> => {
  await editor(page).focus()
  await page.keyboard.press("Control+a")
  await page.keyboard.insertText(text)
}
