// SPDX-License-Identifier: Apache-2.0
// server/api/routes.def and server/api/openapi.json describe the same calls: same (method, path), same scope, every
// handler defined in server/api or server/ui, unique operationIds, every query parameter that handlers read is documented.
//   node scripts/check-api.mjs [ROOT]
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const root = process.argv[2] ?? '.';
const routesFile = join(root, 'server/api/routes.def');
const openapiFile = join(root, 'server/api/openapi.json');
const failures = [];
const fail = (text) => failures.push(text);

if (!existsSync(routesFile) && !existsSync(openapiFile)) process.exit(0);
for (const f of [routesFile, openapiFile]) {
  if (!existsSync(f)) {
    console.log(`${f} is missing while its twin exists`);
    process.exit(1);
  }
}

const stripped = readFileSync(routesFile, 'utf8').replace(/\/\*[\s\S]*?\*\//g, '');
const routes = [...stripped.matchAll(/FSC_ROUTE\(\s*(\w+)\s*,\s*"([^"]+)"\s*,\s*(\w+)\s*,\s*(\w+)\s*,/g)].map((m) => ({
  method: m[1].replace(/^FSC_(HTTP_)?/, '').toLowerCase(),
  path: m[2],
  handler: m[3],
  scope: m[4].replace(/^FSC_(SCOPE_)?/, '').toLowerCase(),
}));
if (routes.length === 0) fail('routes.def holds no FSC_ROUTE');

const openapi = JSON.parse(readFileSync(openapiFile, 'utf8'));
if (!/^3\.1\./.test(openapi.openapi ?? '')) fail('openapi.json is not OpenAPI 3.1');
const prefix = (openapi.servers?.[0]?.url ?? '').replace(/\/$/, '');
const documented = new Map();
const operationIds = new Set();
const resolve = (x) => (x?.$ref ? x.$ref.slice(2).split('/').reduce((o, k) => o?.[k], openapi) : x);
for (const [path, item] of Object.entries(openapi.paths ?? {})) {
  for (const method of ['get', 'put', 'post', 'delete', 'patch', 'head', 'options']) {
    const op = item[method];
    if (!op) continue;
    const opPrefix = (op.servers ?? item.servers)?.[0]?.url?.replace(/\/$/, '') ?? prefix;
    const key = `${method} ${opPrefix}${path}`;
    documented.set(key, { op, item });
    if (!op.operationId) fail(`${key}: no operationId`);
    else if (operationIds.has(op.operationId)) fail(`${key}: operationId ${op.operationId} is used twice`);
    operationIds.add(op.operationId);
    if (!op.responses || Object.keys(op.responses).length === 0) fail(`${key}: no responses`);
    for (const name of path.matchAll(/\{(\w+)\}/g)) {
      const all = [...(item.parameters ?? []), ...(op.parameters ?? [])].map(resolve);
      if (!all.some((p) => p?.in === 'path' && p.name === name[1])) fail(`${key}: path parameter ${name[1]} is not documented`);
    }
  }
}

const sourceFolders = ['server/api', 'server/ui', 'server/http'].map((d) => join(root, d)).filter((d) => existsSync(d));
const sources = sourceFolders.flatMap((d) => readdirSync(d).filter((f) => f.endsWith('.c')).map((f) => readFileSync(join(d, f), 'utf8')));
const code = sources.join('\n');
const seen = new Set();
for (const r of routes) {
  const key = [`${r.method} ${r.path}`, `${r.method} ${prefix}${r.path}`].find((k) => documented.has(k));
  const shown = `${r.method.toUpperCase()} ${r.path}`;
  if (seen.has(shown)) fail(`${shown}: routed twice`);
  seen.add(shown);
  if (!new RegExp(`\\b${r.handler}\\s*\\(`).test(code)) fail(`${shown}: handler ${r.handler} is not defined`);
  if (!key) {
    fail(`${shown}: routed but not in openapi.json`);
    continue;
  }
  const entry = documented.get(key);
  const scope = (entry.op['x-permission'] ?? entry.op['x-scope'] ?? '').toLowerCase();
  if (scope !== r.scope) fail(`${shown}: scope is ${r.scope} in routes.def, "${scope}" in openapi.json`);
  // What any call with a permission may answer before its handler runs.
  if (r.scope !== 'none') for (const status of ['400', '401', '403', '429']) {
    if (!entry.op.responses?.[status]) fail(`${shown}: asks for a permission, but its answer ${status} is not documented`);
  }
  entry.routed = true;
}
for (const [key, entry] of documented) if (!entry.routed) fail(`${key}: in openapi.json but not routed`);

const parameters = new Set();
const collect = (p) => {
  const r = resolve(p);
  if (r?.in === 'query') parameters.add(r.name);
};
for (const { op, item } of documented.values()) for (const p of [...(item.parameters ?? []), ...(op.parameters ?? [])]) collect(p);
for (const m of code.matchAll(/fsc_(?:req|http)_(?:query|param)\w*\(\s*[\w>.&-]+\s*,\s*"(\w+)"/g)) {
  const named = [...documented.values()].some(({ op, item }) =>
    [...(item.parameters ?? []), ...(op.parameters ?? [])].map(resolve).some((p) => p?.name === m[1]));
  if (!parameters.has(m[1]) && !named) fail(`query parameter "${m[1]}" is read by a handler but not documented`);
}

for (const f of failures) console.log(f);
process.exit(failures.length ? 1 : 0);
