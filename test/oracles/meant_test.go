package oracles

import (
	"weir"
	"weir/model"
)

// meant is what the recorded streams say, by a person's reading.
func meant() map[string]heard {
	const greeting = "Grüße, 世界 👨‍👩‍👧\n\n\"q\" \\ <b>&\u2028."
	read := `{"p":"a/b é\n","n":[1,2.50,null]}`
	call := heardCallOf
	return map[string]heard{
		"anthropic/text": {Text: greeting, Usage: weir.Usage{Fresh: 25, Read: 4096, Write: 128, Output: 15}, Finish: model.FinishEnd},
		"anthropic/calls": {Text: "I will look.", Calls: []heardCall{call("toolu_01T1x1fJ34qAmk2tNTrN7Up6", "read", read),
			call("toolu_01A09q90qw90lq917835lq9", "list", `{}`), call("toolu_01Zz", "list", `{}`)},
			Usage: weir.Usage{Fresh: 472, Write: 2048, Output: 89}, Finish: model.FinishTools},
		"anthropic/interleaved": {Text: "one two", Calls: []heardCall{call("toolu_a", "read", `{"p":"x"}`)}, Usage: weir.Usage{Fresh: 12, Output: 9}, Finish: model.FinishTools},
		"anthropic/thinking": {Text: "12,231", Thoughts: "Let me see.\n27 * 453 = 12231",
			Bound: []string{"EqQBCgIYAhIM1gbcDa9GJwZA2b3hGgxBdjrkzLoky3dl1pkiMOYds", "EmwKAhgBEgy3va3pzix/LafPsn4aDFIT2Xlxh0L5L8rLVyIwxtE3rAFBa8cr3qpP", "EpYBCkYIBxgC+/=="},
			Usage: weir.Usage{Fresh: 30, Output: 60}, Finish: model.FinishEnd},
		"anthropic/refusal":    {Text: "I", Usage: weir.Usage{Fresh: 12, Output: 4}, Finish: model.FinishFiltered},
		"anthropic/limit":      {Text: "and so", Usage: weir.Usage{Fresh: 12, Output: 2}, Finish: model.FinishLength},
		"anthropic/citations":  {Text: "It is green.", Usage: weir.Usage{Fresh: 9, Output: 5}, Finish: model.FinishEnd},
		"anthropic/overloaded": {Text: "half an answer", Usage: weir.Usage{Fresh: 12, Output: 1}},

		"openai-chat/text": {Text: greeting, Usage: weir.Usage{Fresh: 35, Read: 1920, Write: 64, Output: 15}, Finish: model.FinishEnd},
		"openai-chat/calls": {Calls: []heardCall{call("call_DdmO9pD3xa9XTPNJ32zg2hcA", "read", read), call("call_VihqOjMx", "list", `{}`)},
			Usage: weir.Usage{Fresh: 82, Output: 40}, Finish: model.FinishTools},
		"openai-chat/text-and-calls": {Text: "I look.", Calls: []heardCall{call("call_1", "list", `{}`)}, Usage: weir.Usage{Fresh: 8, Output: 4}, Finish: model.FinishTools},
		"openai-chat/refusal":        {Text: "I'm sorry, I can't help.", Usage: weir.Usage{Fresh: 5, Output: 6}, Finish: model.FinishFiltered},
		"openai-chat/limit":          {Text: "and so", Usage: weir.Usage{Fresh: 5, Output: 2}, Finish: model.FinishLength},
		"openai-chat/filter":         {Text: "well", Usage: weir.Usage{Fresh: 5, Output: 2}, Finish: model.FinishFiltered},
		"openai-chat/failed":         {Text: "half an answer"},
		"openai-chat/deepseek": {Text: "I look.", Thoughts: "Hm, 列表.", Calls: []heardCall{call("call_00_x", "list", `{"q":"x"}`)},
			Usage: weir.Usage{Fresh: 16, Read: 384, Output: 30}, Finish: model.FinishTools},

		"openai-responses/text": {Text: greeting, Usage: weir.Usage{Fresh: 35, Read: 1920, Write: 64, Output: 15}, Finish: model.FinishEnd},
		"openai-responses/calls": {Text: "I will look.", Thoughts: "**Looking**\n\nI must 見る.", Bound: []string{"gAAAAABpwhole+/=="},
			Calls: []heardCall{call("call_DdmO9pD3", "read", read), call("call_VihqOjMx", "list", `{}`)},
			Usage: weir.Usage{Fresh: 88, Write: 512, Output: 90}, Finish: model.FinishTools},
		"openai-responses/thinking": {Text: "yes", Bound: []string{"gAAAAABpwhole+/=="}, Usage: weir.Usage{Fresh: 6, Output: 9}, Finish: model.FinishEnd},
		"openai-responses/refusal":  {Text: "I'm sorry, I can't help.", Usage: weir.Usage{Fresh: 5, Output: 6}, Finish: model.FinishFiltered},
		"openai-responses/limit":    {Text: "and so", Usage: weir.Usage{Fresh: 5, Output: 2}, Finish: model.FinishLength},
		"openai-responses/filter":   {Text: "well", Usage: weir.Usage{Fresh: 5, Output: 2}, Finish: model.FinishFiltered},
		"openai-responses/failed":   {Text: "half an answer"},
		"openai-responses/limited":  {Text: "half an answer"},

		"gemini/text":     {Text: greeting, Usage: weir.Usage{Fresh: 904, Read: 4096, Output: 15}, Finish: model.FinishEnd},
		"gemini/thinking": {Text: "12,231", Thoughts: "**Looking**\n\nI must 見る.", Bound: []string{"CvcBAVSoXO7aaa+/"}, Usage: weir.Usage{Fresh: 30, Output: 50}, Finish: model.FinishEnd},
		"gemini/calls": {Text: "I look.", Calls: []heardCall{call("call-1", "read", read), call("call-2", "list", `{}`)}, Bound: []string{"EqQBCgIYAhIM+/8="},
			Usage: weir.Usage{Fresh: 400, Output: 29}, Finish: model.FinishTools},
		"gemini/parallel": {Calls: []heardCall{call("a1", "read", `{"p":"x"}`), call("a2", "list", `{}`), call("a3", "list", `{"q":["y"]}`)}, Bound: []string{"c2lnbmVk"},
			Usage: weir.Usage{Fresh: 40, Output: 29}, Finish: model.FinishTools},
		"gemini/limit":      {Text: "and so on", Usage: weir.Usage{Fresh: 5, Output: 2}, Finish: model.FinishLength},
		"gemini/safety":     {Text: "well", Usage: weir.Usage{Fresh: 5, Output: 2}, Finish: model.FinishFiltered},
		"gemini/blocked":    {Usage: weir.Usage{Fresh: 5}, Finish: model.FinishFiltered},
		"gemini/overloaded": {Text: "half an answer", Usage: weir.Usage{Fresh: 8}},
	}
}
