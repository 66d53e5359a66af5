"""What a model writes around its words, in every template and spelling, at every split."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s.core.markup import (
    Call,
    MarkupFilter,
    Visible,
    Withdrawn,
    WrittenCall,
    hidden_edits,
    opened_thought,
    read_calls,
    visible_text,
)

LAMP = Call("lamp_on", '{"room": "hall. west"}')
LAMP_JSON = '{"name": "lamp_on", "arguments": {"room": "hall. west"}}'
LAMP_ARGUMENTS = '{"room": "hall. west"}'

CONTROL = {
    "chatml": "<|im_start|>assistant\nAll done.<|im_end|>",
    "chatml, no line end": "<|im_start|>assistant<|im_sep|>All done.<|im_end|><|endoftext|>",
    "llama 2": "<s>[INST] <<SYS>>\nBe brief.\n<</SYS>>\n\nWell? [/INST] All done. </s>",
    "llama 2, end": "All done.</s>",
    "llama 3": "<|start_header_id|>assistant<|end_header_id|>\n\nAll done.<|eot_id|>",
    "llama 3, begin": "<|begin_of_text|>All done.<|end_of_text|>",
    "llama 4": "<|header_start|>assistant<|header_end|>\n\nAll done.<|eot|>",
    "gemma": "<bos><start_of_turn>model\nAll done.<end_of_turn><eos>",
    "gemma 4": "<|turn>model\nAll done.<turn|>",
    "mistral": "[INST] Well? [/INST]All done.</s>",
    "mistral, system": "[SYSTEM_PROMPT]Be brief.[/SYSTEM_PROMPT]All done.",
    "phi": "<|system|>Be brief.<|end|><|user|>Well?<|end|><|assistant|>All done.<|end|>",
    "command r": "<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>All done.<|END_OF_TURN_TOKEN|>",
    "command r7b": "<|START_RESPONSE|>All done.<|END_RESPONSE|>",
    "deepseek": "<｜begin▁of▁sentence｜><｜User｜>Well?<｜Assistant｜>All done."
    "<｜end▁of▁sentence｜>",
    "deepseek, spaces": "All done.<｜end of sentence｜>",
    "harmony": "<|start|>assistant<|channel|>final<|message|>All done.<|return|>",
    "granite": "<|start_of_role|>assistant<|end_of_role|>All done.<|end_of_text|>",
    "exaone": "[|assistant|]All done.[|endofturn|]",
    "glm": "[gMASK]<sop><|assistant|>\nAll done.<|endoftext|>",
    "glm, next turn": "All done.<|user|>\nAnd then?",
    "nemotron": "<extra_id_1>All done.<SPECIAL_12>",
    "padding": "All done.<pad><pad><unused3>",
    "another's turn": "All done.<|im_end|>\n<|im_start|>user\nAnd now?<|im_end|>\n",
    "role without signs": "assistant\n\nAll done.",
    "answer tag": "<answer>All done.</answer>",
    "comment": "<!-- a note. really -->All done.<!-- cut",
    "half a sign": "All done.<|im_en",
    "half a sign, gemma": "All done.<end_of_tu",
    "half a sign, thought": "All done.</thin",
    "internlm": "All done.[UNUSED_TOKEN_145]",
    "after a fence in a sentence": "Write ``` before it.<|im_end|>",
    "after inline code": "Write ```a<b``` before it.<|im_end|>",
    "box": "<|begin_of_box|>All done.<|end_of_box|>",
    "results": '<tool_response>{"on": true}</tool_response>All done.',
    "results, deepseek": "<｜tool▁outputs▁begin｜>{}<｜tool▁outputs▁end｜>All done.",
    "results, command r": "<|START_TOOL_RESULT|>{}<|END_TOOL_RESULT|>All done.",
    "results, mistral": "[TOOL_RESULTS]{}[/TOOL_RESULTS]All done.",
}

THOUGHTS = {
    "think": "<think>I look. It is so.</think>",
    "capitals": "<THINK>I look. It is so.</Think>",
    "thinking": "<thinking>\nI look.\n\nIt is so.\n</thinking>\n",
    "reasoning": "<reasoning>I look. It is so.</reasoning>",
    "thought": "<thought>I look. It is so.</thought>",
    "reasoning_content": "<reasoning_content>I look.</reasoning_content>",
    "ant thinking": "<ant-thinking>I look.</ant-thinking>",
    "reflection": "<reflection>I look.</reflection>",
    "scratchpad": "<scratchpad>I look.</scratchpad>",
    "other end": "<think>I look. It is so.</thinking>",
    "attribute": '<think mode="deep">I look.</think>',
    "namespace": "<seed:think>I look.</seed:think>",
    "empty": "<think>\n\n</think>\n\n",
    "unopened": "They want to know. I look.\n</think>\n\n",
    "unopened, other": "They want to know. I look.</thinking>",
    "mistral": "[THINK]I look. It is so.[/THINK]",
    "kimi": "◁think▷I look. It is so.◁/think▷",
    "command r": "<|START_THINKING|>I look.<|END_THINKING|><|START_RESPONSE|>",
    "open thoughts": "<|begin_of_thought|>I look.<|end_of_thought|><|begin_of_solution|>",
    "gemma 4": "<|channel>thought\nI look. It is so.\n<channel|>",
    "harmony": "<|channel|>analysis<|message|>I look.<|end|><|start|>assistant<|channel|>final"
    "<|message|>",
    "harmony without signs": "analysisI look. It is so.assistantfinal",
    "twice": "<think>I look.</think><think>It is so.</think>",
    "lone end after": "<think>I look.</think>\n</think>\n",
    "a comparison in it": "<think>if a < b and c <3 then</think>",
}

CALLS = {
    "hermes": f"<tool_call>\n{LAMP_JSON}\n</tool_call>",
    "hermes, fenced": f"<tool_call>\n```json\n{LAMP_JSON}\n```\n</tool_call>",
    "hermes, no end": f"<tool_call>{LAMP_JSON}",
    "hermes, begun twice": f"<tool_call>{LAMP_JSON}<tool_call>",
    "hermes, bad json": '<tool_call>{"name": "lamp_on", "arguments": {"room"</tool_call>',
    "qwen coder": "<tool_call>\n<function=lamp_on>\n<parameter=room>\nhall. west\n</parameter>\n"
    "</function>\n</tool_call>",
    "glm": "<tool_call>lamp_on\n<arg_key>room</arg_key>\n<arg_value>hall. west</arg_value>"
    "</tool_call>",
    "function tag": f"<function=lamp_on>{LAMP_ARGUMENTS}</function>",
    "function_call": f"<function_call>{LAMP_JSON}</function_call>",
    "functioncall": f"<functioncall>{LAMP_JSON}</functioncall>",
    "function_call, name": f'<function_call name="lamp_on">{LAMP_ARGUMENTS}</function_call>',
    "list of calls": f"<tool_calls>[{LAMP_JSON}]</tool_calls>",
    "invoke": '<function_calls>\n<invoke name="lamp_on">\n<parameter name="room">hall. west'
    "</parameter>\n</invoke>\n</function_calls>",
    "minimax": '<minimax:tool_call><invoke name="lamp_on"><parameter name="room">hall. west'
    "</parameter></invoke></minimax:tool_call>",
    "llama 3": '<|python_tag|>{"type": "function", "name": "lamp_on", "parameters": '
    f"{LAMP_ARGUMENTS}}}<|eom_id|>",
    "llama 3, python": '<|python_tag|>lamp_on(room="hall. west")<|eom_id|>',
    "llama 4": '<|python_start|>[lamp_on(room="hall. west")]<|python_end|>',
    "mistral": f"[TOOL_CALLS] [{LAMP_JSON}]</s>",
    "mistral, name": f"[TOOL_CALLS]lamp_on[ARGS]{LAMP_ARGUMENTS}",
    "mistral, id": f"[TOOL_CALLS]lamp_on[CALL_ID]a1b2[ARGS]{LAMP_ARGUMENTS}",
    "lm studio": f"[TOOL_REQUEST]{LAMP_JSON}[END_TOOL_REQUEST]",
    "granite": f"<|tool_call|>[{LAMP_JSON}]",
    "phi": f"<|tool_call|>[{LAMP_JSON}]<|/tool_call|>",
    "lfm": '<|tool_call_start|>[lamp_on(room="hall. west")]<|tool_call_end|>',
    "command r": '<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "lamp_on", "parameters": '
    f"{LAMP_ARGUMENTS}}}]<|END_ACTION|>",
    "internlm": f"<|action_start|><|plugin|>{LAMP_JSON}<|action_end|>",
    "deepseek 3": "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>lamp_on\n"
    f"```json\n{LAMP_ARGUMENTS}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
    "deepseek 3.1": "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>lamp_on<｜tool▁sep｜>"
    f"{LAMP_ARGUMENTS}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
    "deepseek 3.2": '<｜DSML｜function_calls>\n<｜DSML｜invoke name="lamp_on">\n<｜DSML｜parameter '
    'name="room" string="true">hall. west</｜DSML｜parameter>\n</｜DSML｜invoke>\n'
    "</｜DSML｜function_calls>",
    "kimi": "<|tool_calls_section_begin|><|tool_call_begin|>functions.lamp_on:0"
    f"<|tool_call_argument_begin|>{LAMP_ARGUMENTS}<|tool_call_end|><|tool_calls_section_end|>",
    "gemma 3": '```tool_code\nlamp_on(room="hall. west")\n```\n',
    "gemma 4": '<|tool_call>call:lamp_on{room:<|"|>hall. west<|"|>}<tool_call|>',
    "harmony": "<|start|>assistant<|channel|>commentary to=functions.lamp_on <|constrain|>json"
    f"<|message|>{LAMP_ARGUMENTS}<|call|>",
    "harmony, order": "<|start|>assistant to=functions.lamp_on<|channel|>commentary json"
    f"<|message|>{LAMP_ARGUMENTS}<|call|>",
}

BARE_CALLS = {
    "llama 3.2": f'{{"name": "lamp_on", "parameters": {LAMP_ARGUMENTS}}}',
    "list": f"[{LAMP_JSON}]",
    "python": '[lamp_on(room="hall. west")]',
    "after a thought": f"<think>I look.</think>\n{LAMP_JSON}",
}

PLAIN = (
    "a < b and b > a, and a <b too",
    "I <3 you, a<3, <- and <= and <> and <|> and x <| f |> y",
    "<b>bold</b>, <br/>, <div class='x'>, <https://a.b/c>, <joe@x.y>",
    "[1] says so [x](http://y.z) [INSTALL] [ ] [x] [[wiki]]",
    "Write `<think>` and `</think>` around it, or `<|im_end|>`.",
    "Here:\n```html\n<!-- kept -->\n<think>kept</think>\n```\nThere.",
    "Here:\n~~~\n<|im_end|>\n[TOOL_CALLS]\n~~~\nThere.",
    "````\n```\n<think>\n```\n````\n",
    '{"a": 1} is an object, [1, 2] a list, {x} a set',
    '{"name": "Ann", "age": 5}',
    "$$a < b$$ and \\(x<y\\) and $x<think$",
    "assist me; model it; analysis is hard",
    "```python\nprint(1 < 2)\n```",
    "So: ```python\n<think>1</think>\n```\nThere.",
    "So ```<think>``` and ``<think>`` and `<think>` stay.",
    "`open and\n```\n<think>\n```\n",
    "Sure.\n\n- one\n- two\n",
    "an unclosed ` and then <3",
    "A trailing <",
    "A trailing <b",
    "A trailing [TO",
)


NO_CUT = {"unopened", "unopened, other", "empty", "a comparison in it"}
"""Where there is nothing to cut that could be told from an answer."""


def read(*parts: str, thinks: bool = False) -> tuple[str, list[WrittenCall]]:
    """The visible text and the calls of an answer that comes in `parts`."""
    markup = MarkupFilter(opens_in_thought=thinks)
    text, calls = "", []
    for item in [*(each for part in parts for each in markup.push(part)), *markup.flush()]:
        match item:
            case Visible():
                text += item.text
            case Withdrawn():
                text = ""
            case WrittenCall():
                calls.append(item)
    return text, calls


def splits(text: str) -> list[list[str]]:
    """In two at every place, and into single characters."""
    return [[text[:at], text[at:]] for at in range(1, len(text))] + [list(text)]


TWO_CALLS = [
    f"<tool_call>{LAMP_JSON}{LAMP_JSON}</tool_call>",
    f"<tool_call>\n{LAMP_JSON}\n{LAMP_JSON}\n</tool_call>",
    f"<tool_call>{LAMP_JSON}, {LAMP_JSON}</tool_call>",
    f"<tool_call>{LAMP_JSON}</tool_call>\n<tool_call>{LAMP_JSON}</tool_call>",
    f"[TOOL_CALLS][{LAMP_JSON}, {LAMP_JSON}]",
    f"[TOOL_CALLS]lamp_on[ARGS]{LAMP_ARGUMENTS}[TOOL_CALLS]lamp_on[ARGS]{LAMP_ARGUMENTS}",
    f"<|python_tag|>{LAMP_JSON}; {LAMP_JSON}<|eom_id|>",
]

ANSWERS = [
    *(f"Well. {calls}\nAll done." for calls in TWO_CALLS),
    *CONTROL.values(),
    *(f"{thought}All done." for thought in THOUGHTS.values()),
    *(f"Well. {call} All done." for call in CALLS.values()),
    *BARE_CALLS.values(),
    *(f" \n {call}" for call in BARE_CALLS.values()),
    " analysisI look.assistantfinalYes.",
    *PLAIN,
]


@pytest.mark.parametrize("name", CONTROL)
def test_signs_of_templates_are_removed(name: str) -> None:
    expected = CONTROL[name].split("<|im")[0] if "after" in name else "All done."
    assert read(CONTROL[name])[0].strip() == expected


@pytest.mark.parametrize("name", THOUGHTS)
def test_thinking_is_removed(name: str) -> None:
    assert read(f"{THOUGHTS[name]}All done.") == ("All done.", [])


@pytest.mark.parametrize("name", sorted(set(THOUGHTS) - NO_CUT))
def test_thinking_that_was_cut_leaves_nothing(name: str) -> None:
    thought = THOUGHTS[name]
    assert read(thought[: thought.index("look") + 4])[0] == ""


@pytest.mark.parametrize("name", CALLS)
def test_calls_are_handed_on_and_not_shown(name: str) -> None:
    text, calls = read(f"Well. {CALLS[name]}")
    assert text.strip() == "Well."
    if "bad" in name:
        assert len(calls) == 1
    else:
        assert [call for each in calls for call in read_calls(each)] == [LAMP]


@pytest.mark.parametrize("name", [n for n in CALLS if n not in ("llama 3", "llama 3, python")])
def test_text_goes_on_behind_a_call(name: str) -> None:
    text, _ = read(f"Well. {CALLS[name]} All done.")
    assert text in ("Well. All done.", "Well. ") or "twice" in name


@pytest.mark.parametrize("written", TWO_CALLS)
def test_two_calls_are_two(written: str) -> None:
    text, calls = read(f"Well. {written}\nAll done.")
    assert text.split() in (["Well.", "All", "done."], ["Well."])
    assert [call for each in calls for call in read_calls(each)] == [LAMP, LAMP]


@pytest.mark.parametrize("name", BARE_CALLS)
def test_an_answer_that_is_a_call(name: str) -> None:
    text, calls = read(BARE_CALLS[name])
    assert text == ""
    assert [call for each in calls for call in read_calls(each)] == [LAMP]


@pytest.mark.parametrize("text", PLAIN)
def test_what_is_no_markup_stays(text: str) -> None:
    assert read(text) == (text, [])


@pytest.mark.parametrize("text", ANSWERS)
def test_every_split_gives_the_same(text: str) -> None:
    whole = read(text)
    for parts in splits(text):
        assert read(*parts) == whole, parts


PARTS = st.lists(
    st.sampled_from(
        [
            *CONTROL.values(), *THOUGHTS.values(), *CALLS.values(), *BARE_CALLS.values(),
            *PLAIN, "<", "<|", "</", "`", "```", "~~~", "\n", "\n\n", " ", "[", "$", "$$", "\\[",
            "<think>", "</think>", "<!--", "-->", "|>", "Yes. ", "はい。", "◁",
        ]
    ),
    max_size=6,
)  # fmt: skip


@given(PARTS, st.data())
def test_any_split_gives_the_same(parts: list[str], data: st.DataObject) -> None:
    text = "".join(parts)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8)))
    pieces = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    assert read(*pieces) == read(text) == read(*text)


@given(st.text(alphabet='abc <>|/`~[]{}$\\\n.!-"=', max_size=60), st.data())
def test_any_split_of_anything(text: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(text)))
    assert read(text[:at], text[at:]) == read(text) == read(*text)


@given(PARTS)
def test_the_edits_give_the_visible_text(parts: list[str]) -> None:
    text = "".join(parts)
    edited, end = "", 0
    for start, stop, new in hidden_edits(text):
        edited += text[end:start] + new
        end = stop
    assert edited + text[end:] == visible_text(text) == read(text)[0]


def test_words_do_not_run_together() -> None:
    assert visible_text("One.<|im_end|>Two") == "One. Two"
    assert visible_text("One.<think>x</think>Two") == "One. Two"
    assert visible_text("はい。<|im_end|>そう。") == "はい。そう。"


def test_text_that_may_begin_in_a_thought_is_held() -> None:
    markup = MarkupFilter(opens_in_thought=True)
    assert markup.push("I look. It is so.") == []
    assert markup.push("</think>Yes.") == [Visible("Yes.", at=25)]
    assert markup.opened_in_thought
    assert read("Just an answer.", thinks=True) == ("Just an answer.", [])
    assert read("<think>I look.</think>Yes.", thinks=True) == ("Yes.", [])


def test_plain_text_is_not_held_back() -> None:
    markup = MarkupFilter()
    for word in ("It ", "is ", "**so", "** and `x", "`, "):
        items = markup.push(word)
        assert "".join(item.text for item in items if isinstance(item, Visible)) == word


@pytest.mark.parametrize(
    ("prompt", "sign"),
    [
        ("<|im_start|>assistant\n<think>\n", "<think>"),
        ("<|im_start|>assistant\n<think>\n\n</think>\n\n", ""),
        ("[INST]Hi[/INST][THINK]", "[THINK]"),
        ("<|CHATBOT_TOKEN|><|START_THINKING|>", "<|START_THINKING|>"),
        ("<seed:think>", "<seed:think>"),
        ("<|im_start|>assistant\n", ""),
        ("I <think> so", ""),
        ("", ""),
    ],
)
def test_a_thought_that_a_prompt_opens_is_seen(prompt: str, sign: str) -> None:
    assert opened_thought(prompt) == sign


def test_a_piece_from_the_middle_may_begin_with_a_role() -> None:
    assert hidden_edits("model\nis the word", start=False) == []
    assert hidden_edits("model\nis the word") == [(0, 6, "")]
