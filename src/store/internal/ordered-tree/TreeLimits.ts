/** How large the files and directories of a tree become. All writers of a tree must agree. */
export interface TreeLimits {
  /** Bytes of rows in a leaf; a single row may be larger. A random write meets a leaf of two thirds of this. */
  readonly leaf: number
  /** Entries of a directory. */
  readonly directory: number
}

/**
 * With these an insert into a million rows of 57 bytes writes 18 kB before compression, two thirds of it directories.
 * Smaller directories cost fewer bytes and more levels, each of which is a request where there are requests.
 */
export const formatLimits: TreeLimits = { leaf: 8192, directory: 128 }
