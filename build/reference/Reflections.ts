import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { Application, type ProjectReflection, ReflectionKind, type TypeDocOptions } from "typedoc"
import { load, type PluginOptions } from "typedoc-plugin-markdown"

export { type DeclarationReflection, ReflectionKind } from "typedoc"

const root = fileURLToPath(new URL("../..", import.meta.url))

/** The public subpaths. What several export is shown where it stands first. */
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
  // The project's own compiler has checked the types.
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

/** Constructors of Effect's classes are described there, with the version of Effect that brought them. */
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

/** What the public declarations say, and the application that writes it down. */
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
