/** Git's rules for the name of a ref (`git check-ref-format`); a name that begins with a dash is refused too. */
export const isRefName = (name: string): boolean =>
  name.length > 0 &&
  name.length < 1024 &&
  !/[\u0000-\u0020\u007f~^:?*[\\\ud800-\udfff]/.test(name.replace(/[\ud800-\udbff][\udc00-\udfff]/g, "")) &&
  !name.includes("..") &&
  !name.includes("@{") &&
  name !== "@" &&
  !name.startsWith("-") &&
  !name.endsWith(".") &&
  name
    .split("/")
    .every(
      (part) =>
        part !== "" && !part.startsWith(".") && !part.endsWith(".lock") && Buffer.byteLength(part) < 250
    )

/** Whole names that this engine may read or write: below `refs/`. */
export const isFullRefName = (name: string): boolean => name.startsWith("refs/") && isRefName(name)

export const branchRef = (branch: string): string => `refs/heads/${branch}`
