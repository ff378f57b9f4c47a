// Reads the OpenAPI document out. Everything is put in as text, never as HTML.

const el = (name, props = {}, ...children) => {
  const e = Object.assign(document.createElement(name), props);
  e.append(...children);
  return e;
};

const resolve = (doc, schema) => {
  const name = schema?.$ref?.split("/").pop();
  return name ? doc.components.schemas[name] : schema;
};

// A schema in the shape of the JSON that it describes.
function shape(doc, schema, indent = "", seen = []) {
  if (schema?.$ref) {
    if (seen.includes(schema.$ref)) return "…";
    seen = [...seen, schema.$ref];
  }
  const s = resolve(doc, schema);
  if (!s) return "any";
  const choice = s.anyOf ?? s.oneOf;
  if (choice) return choice.map((c) => shape(doc, c, indent, seen)).join(" | ");
  if (s.enum) return s.enum.map((v) => JSON.stringify(v)).join(" | ");
  const types = Array.isArray(s.type) ? s.type.filter((t) => t !== "null") : [s.type];
  if (types[0] === "array") return `[${shape(doc, s.items, indent, seen)}, …]`;
  if (types[0] === "object" || s.properties) {
    const inner = indent + "  ";
    const lines = Object.entries(s.properties ?? {}).map(([name, value]) => {
      const optional = s.required?.includes(name) ? "" : "?";
      const doc1 = value.description ?? resolve(doc, value)?.description;
      return `${inner}${name}${optional}: ${shape(doc, value, inner, seen)}${doc1 ? `   // ${doc1}` : ""}`;
    });
    return lines.length ? `{\n${lines.join("\n")}\n${indent}}` : "{}";
  }
  return (types[0] ?? "any") + (s.format && s.format !== "int64" ? ` (${s.format})` : "");
}

function body(doc, title, content) {
  return Object.entries(content ?? {}).flatMap(([type, media]) => [
    el("h3", { textContent: `${title} · ${type}` }),
    el("pre", { textContent: shape(doc, media.schema) }),
  ]);
}

function parameters(op) {
  const list = op.parameters ?? [];
  if (!list.length) return [];
  const rows = list.map((p) =>
    el("tr", {},
      el("td", {}, el("code", { textContent: p.name })),
      el("td", { textContent: p.in }),
      el("td", { textContent: [p.schema?.enum?.join(" | ") ?? p.schema?.type, p.schema?.default !== undefined ? `default ${p.schema.default}` : ""].filter(Boolean).join(", ") }),
      el("td", { textContent: p.description ?? "" }),
    ));
  return [el("h3", { textContent: "Parameters" }), el("table", {}, el("tbody", {}, ...rows))];
}

function operation(doc, method, path, op) {
  const answers = Object.entries(op.responses ?? {}).filter(([status]) => status !== "default");
  return el("article", { id: op.operationId },
    el("h2", {}, el("span", { className: "method", textContent: method.toUpperCase() }), path),
    el("p", { textContent: op.summary ?? "" }),
    ...parameters(op),
    ...body(doc, "Body", op.requestBody?.content),
    ...answers.flatMap(([status, r]) => {
      const shown = body(doc, status, r.content);
      return shown.length ? shown : [el("h3", { textContent: `${status} · no body` })];
    }),
  );
}

async function main() {
  const out = document.getElementById("operations");
  const index = document.getElementById("index");
  const filter = document.getElementById("filter");
  const doc = await (await fetch("/openapi.json")).json();
  const all = Object.entries(doc.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, op]) => ({ path, method, op })));
  const problem = all[0]?.op.responses.default?.content["application/problem+json"]?.schema;

  function show() {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    const some = all.filter(({ path, method, op }) => {
      const text = `${method} ${path} ${op.summary} ${op.operationId}`.toLowerCase();
      return words.every((w) => text.includes(w));
    });
    out.replaceChildren(
      ...some.map(({ path, method, op }) => operation(doc, method, path, op)),
      el("article", { id: "problem" }, el("h2", { textContent: "Refusals" }),
        el("p", { textContent: "Every refusal is a problem of this shape." }),
        el("pre", { textContent: shape(doc, problem) })));
    const tags = Map.groupBy(some, ({ op }) => op.tags?.[0] ?? "");
    index.replaceChildren(...[...tags].flatMap(([tag, list]) => [
      el("h2", { textContent: tag }),
      el("ul", {}, ...list.map(({ method, path, op }) =>
        el("li", {}, el("a", { href: `#${op.operationId}`, textContent: `${method.toUpperCase()} ${path.replace("/v1", "")}` })))),
    ]));
  }

  filter.addEventListener("input", show);
  show();
  if (location.hash) document.getElementById(location.hash.slice(1))?.scrollIntoView();
}

main().catch(() => {
  document.getElementById("operations").textContent = "The document could not be read. Reload the page to try again.";
});
