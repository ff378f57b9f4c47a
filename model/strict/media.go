package strict

// Images, documents and search results: the blocks that carry material.

func (c *checker) image(name string, v *Value, p *place) *Refusal {
	switch name {
	case "type":
		return nil
	case "source":
		return c.source(v, p, "base64", "url")
	}
	return extra(p)
}

func (c *checker) document(name string, v *Value, p *place) *Refusal {
	switch name {
	case "type":
		return nil
	case "source":
		return c.source(v, p, "base64", "url", "text", "content")
	case "title", "context":
		if v.Is(Null) {
			return nil
		}
		return c.named(v, p)
	case "citations":
		return c.citations(v, p)
	}
	return extra(p)
}

func (c *checker) searchResult(name string, v *Value, p *place) *Refusal {
	switch name {
	case "type":
		return nil
	case "source", "title":
		return c.named(v, p)
	case "citations":
		return c.citations(v, p)
	case "content":
		if r := c.list(v, p); r != nil {
			return r
		}
		if len(v.Elements) == 0 {
			return invalid("%s: List should have at least 1 item", p)
		}
		_, r := c.blocks(v, p, textBlocks)
		return r
	}
	return extra(p)
}

func (c *checker) citations(v *Value, p *place) *Refusal {
	return c.object(v, p, func(name string, v *Value, p *place) *Refusal {
		if name == "enabled" {
			return c.boolean(v, p)
		}
		return extra(p)
	})
}

func (c *checker) source(v *Value, p *place, kinds ...string) *Refusal {
	if !v.Is(Object) {
		return invalid("%s: Input should be a valid dictionary", p)
	}
	if v.Get("type") == nil {
		return invalid("%s: Field required", p.in("type"))
	}
	if r := c.oneOf(v.Get("type"), p.in("type"), kinds...); r != nil {
		return r
	}
	kind := v.Get("type").Text(c.body)
	needed := map[string][]string{
		"base64": {"data", "media_type"}, "text": {"data", "media_type"}, "url": {"url"}, "content": {"content"},
	}[kind]
	return c.object(v, p.in(kind), func(name string, v *Value, p *place) *Refusal {
		switch {
		case name == "type":
			return nil
		case name == "content" && kind == "content":
			if v.Is(String) {
				return c.said(v)
			}
			if r := c.list(v, p); r != nil {
				return r
			}
			_, r := c.blocks(v, p, textBlocks)
			return r
		case kind == "url" && name == "url", (kind == "base64" || kind == "text") && (name == "data" || name == "media_type"):
			return c.named(v, p)
		}
		return extra(p)
	}, needed...)
}
