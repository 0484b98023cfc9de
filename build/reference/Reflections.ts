import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { Application, type ProjectReflection, ReflectionKind, type TypeDocOptions } from "typedoc"
import { load, type PluginOptions } from "typedoc-plugin-markdown"

export { type DeclarationReflection, ReflectionKind } from "typedoc"

const root = fileURLToPath(new URL("../..", import.meta.url))

/** The public subpaths. A name that several of them export is documented in the first one. */
const entries = [
  "chain",
  "store",
  "store/local",
  "store/promise",
  "codec",
  "domain/merge",
  "http",
  "layers",
  "testing",
  ""
].map((folder) => join(root, "src", folder, "index.ts"))

const options: TypeDocOptions & Partial<PluginOptions> = {
  name: "Chainstore",
  entryPoints: entries,
  sortEntryPoints: false,
  tsconfig: `${root}tsconfig.build.json`,
  basePath: root,
  // `npm run check:types` checks the types.
  skipErrorChecking: true,
  disableGit: true,
  disableSources: true,
  readme: "none",
  excludeInternal: true,
  excludeExternals: true,
  excludePrivate: true,
  excludeProtected: true,
  categorizeByGroup: false,
  logLevel: "Warn",
  validation: { invalidLink: true, notExported: false, notDocumented: false, rewrittenLink: true },
  plugin: [load],
  router: "module",
  entryFileName: "index",
  hidePageHeader: true,
  hideBreadcrumbs: true,
  parametersFormat: "table",
  useHTMLAnchors: true,
  useCodeBlocks: true
}

/** Removes the inherited constructors of Effect's classes, which Effect documents. */
const withoutInheritedConstructors = (project: ProjectReflection): ProjectReflection => {
  for (const constructor of project.getReflectionsByKind(ReflectionKind.Constructor)) {
    if (!constructor.isDeclaration()) continue
    const signatures = constructor.signatures ?? []
    const inherited = [constructor, ...signatures].some(({ inheritedFrom }) => inheritedFrom !== undefined)
    if (inherited) project.removeReflection(constructor)
    for (const one of [constructor, ...signatures]) delete one.overwrites
  }
  return project
}

/** The public declarations, and the TypeDoc application that renders them. */
export const reflections = async (): Promise<{
  readonly app: Application
  readonly project: ProjectReflection
}> => {
  const app = await Application.bootstrapWithPlugins(options)
  const project = await app.convert()
  if (project === undefined)
    throw new Error("The declarations cannot be read: `npm run check:types` says why")
  app.validate(project)
  return { app, project: withoutInheritedConstructors(project) }
}
