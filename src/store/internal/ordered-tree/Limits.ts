/** How large the files and directories of a tree become. All writers of a tree must agree. */
export interface Limits {
  /** Bytes of rows in a leaf; a single row may be larger. A random write meets a leaf of two thirds of this. */
  readonly leaf: number
  /** Entries of a directory. */
  readonly directory: number
}

/**
 * Measured with a million rows of 80 bytes: an insert writes 18 kB before compression. Larger leaves cost more bytes, smaller
 * ones more files; directories of 64 would save 4 kB and need one level more from 100,000 rows, those of 256 cost 11 kB.
 */
export const formatLimits: Limits = { leaf: 8192, directory: 128 }
