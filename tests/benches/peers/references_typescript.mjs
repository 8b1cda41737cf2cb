// Says which files of a TypeScript tree refer to each definition, by the compiler's own language service.
//
// Called by the bench `references`: `node references_typescript.mjs TYPESCRIPT DIR`, TYPESCRIPT being the folder of the
// package `typescript`. Goes by the tree's `tsconfig.json`. Prints one JSON object: `definitions`, each with `name`,
// `container`, `kind`, `path`, `line`, and `files`, those that mention it (its own file included); and `unknown`, for each
// name the files in which the compiler cannot say what some mention of it means.
//
// A definition is what a module, a name space, a class, an interface or another type holds.

import { createRequire } from 'node:module';
import path from 'node:path';

const [library, directory] = process.argv.slice(2);
const ts = createRequire(import.meta.url)(path.resolve(library));
const root = path.resolve(directory);

const config = ts.findConfigFile(root, ts.sys.fileExists) ?? '';
const parsed = config
  ? ts.parseJsonConfigFileContent(ts.readConfigFile(config, ts.sys.readFile).config, ts.sys, path.dirname(config))
  : { options: {} };
const options = { ...parsed.options, noEmit: true, skipLibCheck: true, types: [] };
const files = ts.sys
  .readDirectory(root, ['.ts', '.tsx', '.mts', '.cts'], ['**/node_modules', '**/.*'])
  .filter((file) => !path.relative(root, file).startsWith('..'))
  .sort();

const host = {
  getCompilationSettings: () => options,
  getScriptFileNames: () => files,
  getScriptVersion: () => '1',
  getScriptSnapshot: (file) => {
    const text = ts.sys.readFile(file);
    return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
  },
  getCurrentDirectory: () => root,
  getDefaultLibFileName: (options) => ts.getDefaultLibFilePath(options),
  fileExists: ts.sys.fileExists,
  readFile: ts.sys.readFile,
  readDirectory: ts.sys.readDirectory,
  directoryExists: ts.sys.directoryExists,
  getDirectories: ts.sys.getDirectories,
};
const service = ts.createLanguageService(host);
const program = service.getProgram();
const checker = program.getTypeChecker();
const relative = (file) => path.relative(root, file);
const within = (file) => !relative(file).startsWith('..') && !relative(file).includes('node_modules');

const kinds = new Map([
  [ts.SyntaxKind.FunctionDeclaration, 'function'],
  [ts.SyntaxKind.ClassDeclaration, 'class'],
  [ts.SyntaxKind.InterfaceDeclaration, 'interface'],
  [ts.SyntaxKind.TypeAliasDeclaration, 'type'],
  [ts.SyntaxKind.EnumDeclaration, 'enum'],
  [ts.SyntaxKind.VariableDeclaration, 'variable'],
  [ts.SyntaxKind.MethodDeclaration, 'method'],
  [ts.SyntaxKind.MethodSignature, 'method'],
  [ts.SyntaxKind.PropertyDeclaration, 'field'],
  [ts.SyntaxKind.PropertySignature, 'field'],
  [ts.SyntaxKind.GetAccessor, 'method'],
  [ts.SyntaxKind.EnumMember, 'variant'],
]);
const holders = new Set([
  ts.SyntaxKind.SourceFile, ts.SyntaxKind.ModuleDeclaration, ts.SyntaxKind.ModuleBlock, ts.SyntaxKind.VariableStatement,
  ts.SyntaxKind.VariableDeclarationList, ts.SyntaxKind.ClassDeclaration, ts.SyntaxKind.InterfaceDeclaration,
  ts.SyntaxKind.EnumDeclaration, ts.SyntaxKind.TypeAliasDeclaration, ts.SyntaxKind.TypeLiteral, ts.SyntaxKind.PropertySignature,
  ts.SyntaxKind.PropertyDeclaration, ts.SyntaxKind.IntersectionType, ts.SyntaxKind.UnionType,
]);

const definitions = [];
const names = new Set();
const add = (source, node, container) => {
  const line = source.getLineAndCharacterOfPosition(node.name.getStart(source)).line + 1;
  const found = service.findReferences(source.fileName, node.name.getStart(source)) ?? [];
  // The compiler follows a definition through `as` to where it has another name.
  const isNamed = ({ fileName, textSpan }) =>
    program.getSourceFile(fileName)?.text.substr(textSpan.start, textSpan.length) === node.name.text;
  const mentions = found.flatMap(({ references }) => references.filter(isNamed).map(({ fileName }) => fileName));
  const files = new Set([source.fileName, ...mentions].filter(within).map(relative));
  names.add(node.name.text);
  definitions.push({
    name: node.name.text, container, kind: kinds.get(node.kind), path: relative(source.fileName), line,
    files: [...files].sort(),
  });
};
const visit = (source, node, container) => {
  ts.forEachChild(node, (child) => {
    if (kinds.has(child.kind) && child.name && ts.isIdentifier(child.name)) add(source, child, container);
    const isType = ts.isClassDeclaration(child) || ts.isInterfaceDeclaration(child);
    if (holders.has(child.kind)) visit(source, child, isType ? (child.name?.text ?? null) : container);
  });
};
const sources = program.getSourceFiles().filter((source) => within(source.fileName));
for (const source of sources) visit(source, source, null);

const unknown = new Map();
const look = (source, node) => {
  if (ts.isIdentifier(node) && names.has(node.text) && !checker.getSymbolAtLocation(node)) {
    if (!unknown.has(node.text)) unknown.set(node.text, new Set());
    unknown.get(node.text).add(relative(source.fileName));
  }
  ts.forEachChild(node, (child) => look(source, child));
};
for (const source of sources) look(source, source);

const listed = Object.fromEntries([...unknown].map(([name, files]) => [name, [...files]]));
process.stdout.write(JSON.stringify({ definitions, unknown: listed }));
