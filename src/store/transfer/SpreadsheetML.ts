/** Indexes of the cell formats in `styles`. */
export const headerStyle = 1
export const dateStyle = 2

const declaration = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'
const spreadsheet = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
const packages = "http://schemas.openxmlformats.org/package/2006"
const relations = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
const contentType = "application/vnd.openxmlformats-officedocument.spreadsheetml"

const styles = `${declaration}<styleSheet xmlns="${spreadsheet}"><numFmts count="1"><numFmt numFmtId="164" formatCode="yyyy-mm-dd hh:mm:ss.000"/></numFmts><fonts count="2"><font><sz val="11"/><name val="Calibri"/></font><font><b/><sz val="11"/><color rgb="FFFFFFFF"/><name val="Calibri"/></font></fonts><fills count="3"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill><fill><patternFill patternType="solid"><fgColor rgb="FF1F4E79"/></patternFill></fill></fills><borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders><cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs><cellXfs count="3"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/><xf numFmtId="0" fontId="1" fillId="2" borderId="0" xfId="0" applyFont="1" applyFill="1"/><xf numFmtId="164" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/></cellXfs><cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>`

const override = (part: string, kind: string) =>
  `<Override PartName="/xl/${part}.xml" ContentType="${contentType}.${kind}+xml"/>`

const relationship = (id: number, kind: string, target: string) =>
  `<Relationship Id="rId${id}" Type="${relations}/${kind}" Target="${target}.xml"/>`

const relationships = (list: string) =>
  `${declaration}<Relationships xmlns="${packages}/relationships">${list}</Relationships>`

/** The path of a worksheet in the workbook's archive. */
export const worksheetPath = (index: number) => `xl/worksheets/sheet${index + 1}.xml`

/**
 * The files of a workbook (ECMA-376, Transitional) except its worksheets. The stream of `hucre` writes only one sheet,
 * without cell styles and without a filter, so the project writes these files itself.
 */
export const workbookFiles = (
  sheetNames: ReadonlyArray<string>
): ReadonlyArray<readonly [path: string, xml: string]> => {
  const each = (write: (name: string, number: number) => string) =>
    sheetNames.map((name, index) => write(name, index + 1)).join("")
  const types = each((_, number) => override(`worksheets/sheet${number}`, "worksheet"))
  const sheets = each(
    (name, number) => `<sheet name="${escapeXml(name)}" sheetId="${number}" r:id="rId${number}"/>`
  )
  const parts = each((_, number) => relationship(number, "worksheet", `worksheets/sheet${number}`))
  return [
    [
      "[Content_Types].xml",
      `${declaration}<Types xmlns="${packages}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/>${override("workbook", "sheet.main")}${override("styles", "styles")}${types}</Types>`
    ],
    ["_rels/.rels", relationships(relationship(1, "officeDocument", "xl/workbook"))],
    [
      "xl/workbook.xml",
      `${declaration}<workbook xmlns="${spreadsheet}" xmlns:r="${relations}"><sheets>${sheets}</sheets></workbook>`
    ],
    [
      "xl/_rels/workbook.xml.rels",
      relationships(parts + relationship(sheetNames.length + 1, "styles", "styles"))
    ],
    ["xl/styles.xml", styles]
  ]
}

/** The beginning of a worksheet, with a frozen first row and column widths. */
export const worksheetStart = (widths: ReadonlyArray<number>) => {
  const columns = widths.map(
    (width, index) => `<col min="${index + 1}" max="${index + 1}" width="${width}" customWidth="1"/>`
  )
  return `${declaration}<worksheet xmlns="${spreadsheet}"><sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews><sheetFormatPr defaultRowHeight="15"/><cols>${columns.join("")}</cols><sheetData>`
}

/** The end of a worksheet; `cells` is the range of its filter. */
export const worksheetEnd = (cells: string) => `</sheetData><autoFilter ref="${cells}"/></worksheet>`

/** Escapes text for the content of an XML element or for an attribute. */
export const escapeXml = (text: string) =>
  text.replace(/[&<>"\r]/g, (character) => escapes.get(character) ?? character)

const escapes = new Map([
  ["&", "&amp;"],
  ["<", "&lt;"],
  [">", "&gt;"],
  ['"', "&quot;"],
  ["\r", "&#13;"]
])
