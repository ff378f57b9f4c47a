package strict

import "slices"

// tools checks the functions that are declared.
func (c *geminiChecker) tools(q *GeminiRequest) *Refusal {
	list := q.Root.Get("tools")
	if list == nil {
		return nil
	}
	for i := range list.Elements {
		t, p := &list.Elements[i], root("tools").at(i)
		r := c.members(t, p, map[string]Kind{"functionDeclarations": Array, "googleSearch": Object, "codeExecution": Object, "urlContext": Object})
		if r != nil {
			return r
		}
		if len(t.Members) == 0 {
			return field(p, "tool_type: required one_of 'tool_type' must have one initialized field")
		}
		declared := t.Get("functionDeclarations")
		if declared == nil {
			continue
		}
		for j := range declared.Elements {
			if r := c.function(q, &declared.Elements[j], p.in("functionDeclarations").at(j)); r != nil {
				return r
			}
		}
	}
	return nil
}

func (c *geminiChecker) function(q *GeminiRequest, v *Value, p *place) *Refusal {
	r := c.members(v, p, map[string]Kind{
		"name": String, "description": String, "parameters": Object, "parametersJsonSchema": Object, "response": Object, "responseJsonSchema": Object,
	})
	if r != nil {
		return r
	}
	if r := c.name(v.Get("name"), p.in("name")); r != nil {
		return r
	}
	name := v.Get("name").Text(c.body)
	if slices.Contains(q.Tools, name) {
		return argument("Duplicate function declaration found: %s", name)
	}
	q.Tools = append(q.Tools, name)
	open, full := v.Get("parameters"), v.Get("parametersJsonSchema")
	switch {
	case open != nil && full != nil:
		return field(p, "only one of parameters and parameters_json_schema may be set")
	case open != nil:
		return c.schema(open, p.in("parameters"))
	case full != nil && full.Get("type") != nil && full.Get("type").Text(c.body) != "object":
		return field(p.in("parametersJsonSchema"), "the schema of a function's parameters must describe an object")
	}
	return nil
}

// schema checks the part of OpenAPI's schemas that is understood. It does not
// know what JSON Schema has beyond that.
func (c *geminiChecker) schema(v *Value, p *place) *Refusal {
	r := c.members(v, p, map[string]Kind{
		"type": String, "format": String, "title": String, "description": String, "nullable": Bool, "enum": Array,
		"properties": Object, "required": Array, "propertyOrdering": Array,
		"items": Object, "anyOf": Array, "minimum": Number, "maximum": Number, "pattern": String,
	})
	if r != nil {
		return r
	}
	if items := v.Get("items"); items != nil {
		if r := c.schema(items, p.in("items")); r != nil {
			return r
		}
	}
	if properties := v.Get("properties"); properties != nil {
		for i := range properties.Members {
			if r := c.schema(&properties.Members[i].Value, p.in("properties").at(i).in("value")); r != nil {
				return r
			}
		}
	}
	if choices := v.Get("anyOf"); choices != nil {
		for i := range choices.Elements {
			if r := c.schema(&choices.Elements[i], p.in("anyOf").at(i)); r != nil {
				return r
			}
		}
	}
	return nil
}

// config checks the options.
func (c *geminiChecker) config(q *GeminiRequest) *Refusal {
	if v := q.Root.Get("generationConfig"); v != nil {
		if r := c.generation(v, root("generationConfig")); r != nil {
			return r
		}
	}
	v := q.Root.Get("toolConfig")
	if v == nil {
		return nil
	}
	p := root("toolConfig")
	if r := c.members(v, p, map[string]Kind{"functionCallingConfig": Object}); r != nil {
		return r
	}
	calling := v.Get("functionCallingConfig")
	if calling == nil {
		return nil
	}
	p = p.in("functionCallingConfig")
	if r := c.members(calling, p, map[string]Kind{"mode": String, "allowedFunctionNames": Array}); r != nil {
		return r
	}
	q.Mode = calling.Get("mode").Text(c.body)
	switch {
	case !slices.Contains([]string{"", "MODE_UNSPECIFIED", "AUTO", "ANY", "NONE", "VALIDATED"}, q.Mode):
		return argument("Invalid value at '%s' (type.googleapis.com/google.ai.generativelanguage.v1beta.FunctionCallingConfig.Mode), %q", p.in("mode").proto(), q.Mode)
	case len(q.Tools) == 0:
		return argument("Function calling config is set without function_declarations.")
	case calling.Get("allowedFunctionNames") != nil && q.Mode != "ANY":
		return field(p.in("allowedFunctionNames"), "allowed_function_names should only be set when mode is ANY.")
	}
	return nil
}

func (c *geminiChecker) generation(v *Value, p *place) *Refusal {
	r := c.members(v, p, map[string]Kind{
		"maxOutputTokens": Number, "candidateCount": Number, "temperature": Number, "topP": Number, "topK": Number, "seed": Number,
		"presencePenalty": Number, "frequencyPenalty": Number, "stopSequences": Array, "responseMimeType": String,
		"responseSchema": Object, "responseJsonSchema": Object, "responseModalities": Array, "thinkingConfig": Object, "mediaResolution": String,
	})
	if r != nil {
		return r
	}
	for _, name := range []string{"maxOutputTokens", "candidateCount"} {
		m := v.Get(name)
		if m == nil {
			continue
		}
		n, ok := m.Int(c.body)
		switch {
		case !ok || n > 1<<31-1:
			return argument("Invalid value at '%s' (TYPE_INT32), %s", p.in(name).proto(), m.Raw(c.body))
		case n < 1:
			return field(p.in(name), "%s must be positive.", root(name).proto())
		}
	}
	thinking := v.Get("thinkingConfig")
	if thinking == nil {
		return nil
	}
	p = p.in("thinkingConfig")
	if r := c.members(thinking, p, map[string]Kind{"includeThoughts": Bool, "thinkingBudget": Number, "thinkingLevel": String}); r != nil {
		return r
	}
	if thinking.Get("thinkingBudget") != nil && thinking.Get("thinkingLevel") != nil {
		return argument("You can only set only one of thinking budget and thinking level.")
	}
	return nil
}
