// Prints a JSON Schema of each type that bodies.ts exports, by its name. Objects
// have the members of their type and no others.
import { createGenerator } from "ts-json-schema-generator";

const generator = createGenerator({
	path: "bodies.ts",
	tsconfig: "tsconfig.json",
	skipTypeCheck: true,
	jsDoc: "none",
	expose: "export",
	additionalProperties: false,
});
const schemas = {};
for (const name of ["AnthropicMessages", "OpenAIChat", "OpenAIResponses", "Gemini"]) {
	schemas[name] = generator.createSchema(name);
}
process.stdout.write(JSON.stringify(schemas));
