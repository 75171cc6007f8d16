"""Compares chat templates with Jinja itself, set up as transformers does it.

The templates are those of the models folder, some written after published ones, and small ones that try a construct
each; the conversations go from none to tools and reasoning. luminal_chat_cases does the comparing.
"""
import argparse
import datetime
import json
import pathlib
import subprocess
import sys
import tempfile

try:
    import jinja2
    from jinja2.ext import loopcontrols
    from jinja2.sandbox import ImmutableSandboxedEnvironment
except ImportError as error:
    print(f"SKIPPED: {error}; run tools/install-deps.sh --test")
    sys.exit(77)

from gguf_vocabulary import read_metadata

NOW = 1754000000
TOOLS = [{"type": "function", "function": {"name": "get_weather", "description": "The weather of a \"city\" – é\n",
                                           "parameters": {"type": "object", "properties": {"city": {"type": "string"}},
                                                          "required": ["city"]}}}]
CONVERSATIONS = {
    "user": [{"role": "user", "content": "Hello!"}],
    "system": [{"role": "system", "content": " Be brief. "}, {"role": "user", "content": "Hi\n"}],
    "long": [{"role": "system", "content": "S"}, {"role": "user", "content": "a <b> 'c' \"d\" \\n é 你"},
             {"role": "assistant", "content": "<think>\nhm\n</think>\n\nyes"}, {"role": "user", "content": "  more  "}],
    "tool": [{"role": "user", "content": "Weather?"},
             {"role": "assistant", "content": "", "tool_calls": [
                 {"id": "abcdefghi", "type": "function",
                  "function": {"name": "get_weather", "arguments": {"city": "Paris", "days": 2, "x": 1.5}}}]},
             {"role": "tool", "name": "get_weather", "tool_call_id": "abcdefghi", "content": "sunny"},
             {"role": "tool", "name": "get_weather", "tool_call_id": "abcdefghi", "content": "22"},
             {"role": "assistant", "content": "Sunny.", "reasoning_content": "easy"}, {"role": "user", "content": "Ok"}],
    "parts": [{"role": "user", "content": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]}],
    "wrong": [{"role": "assistant", "content": "first"}, {"role": "assistant", "content": "second"}],
    "none": [],
}
# Written after the styles of published templates: markers, blocks, namespaces, macros, tools, errors.
STYLES = {
    "header": "{{- bos_token }}{%- if not date_string is defined %}{%- set date_string = strftime_now('%d %b %Y') %}{%- endif %}\n"
              "{%- if messages and messages[0]['role'] == 'system' %}\n    {%- set system_message = messages[0]['content']|trim %}\n"
              "    {%- set messages = messages[1:] %}\n{%- else %}\n    {%- set system_message = \"\" %}\n{%- endif %}\n"
              "{{- \"<|start|>system<|end|>\\n\\n\" }}\n{{- \"Today: \" + date_string + \"\\n\\n\" }}\n{{- system_message }}\n"
              "{%- for message in messages %}\n    {%- if not (message.role == 'tool' or 'tool_calls' in message) %}\n"
              "        {{- '<|start|>' + message['role'] + '<|end|>\\n\\n'+ message['content'] | trim + '<|eot|>' }}\n"
              "    {%- elif 'tool_calls' in message %}\n        {%- if not message.tool_calls|length == 1 %}\n"
              "            {{- raise_exception(\"one call at a time\") }}\n        {%- endif %}\n"
              "        {%- set tool_call = message.tool_calls[0].function %}\n        {{- '{\"name\": \"' + tool_call.name + '\", ' }}\n"
              "        {{- '\"parameters\": ' }}\n        {{- tool_call.arguments | tojson }}\n        {{- \"}\" }}\n    {%- elif message.role == \"tool\" %}\n"
              "        {%- if message.content is mapping or message.content is iterable %}\n            {{- message.content | tojson }}\n"
              "        {%- else %}\n            {{- message.content }}\n        {%- endif %}\n    {%- endif %}\n{%- endfor %}\n"
              "{%- if add_generation_prompt %}\n    {{- '<|start|>assistant<|end|>\\n\\n' }}\n{%- endif %}\n",
    "inst": "{%- if messages[0]['role'] == 'system' %}{%- set system = messages[0]['content'] %}{%- set rest = messages[1:] %}"
            "{%- else %}{%- set rest = messages %}{%- endif %}{{ bos_token }}{% for message in rest %}"
            "{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('roles must alternate') }}{% endif %}"
            "{% if message['role'] == 'user' %}{% if loop.first and system is defined %}{{ '[INST] ' + system + '\\n\\n' + message['content'] + ' [/INST]' }}"
            "{% else %}{{ '[INST] ' + message['content'] + ' [/INST]' }}{% endif %}{% elif message['role'] == 'assistant' %}"
            "{{ ' ' + message['content']|trim + eos_token }}{% endif %}{% endfor %}",
    "turns": "{{ bos_token }}{% for message in messages %}{% if (message['role'] == 'assistant') %}{% set role = 'model' %}{% else %}"
             "{% set role = message['role'] %}{% endif %}{{ '<turn>' + role + '\\n' + message['content'] | string | trim + '</turn>\\n' }}"
             "{% endfor %}{% if add_generation_prompt %}{{'<turn>model\\n'}}{% endif %}",
    "macros": "{%- macro text_of(content, sep='|') -%}\n{%- if content is string -%}{{ content }}{%- else -%}"
              "{%- for part in content if part.type == 'text' -%}{{ part.text }}{% if not loop.last %}{{ sep }}{% endif %}{%- endfor -%}{%- endif -%}\n"
              "{%- endmacro -%}\n{%- for m in messages %}\n  <{{ m.role }}>{{ text_of(m.content) }}{{ text_of(content=m.content, sep='+')|upper }}\n"
              "{% endfor %}\n",
    "namespaces": "{%- set ns = namespace(found=false, n=0, names=[]) -%}\n{%- for m in messages -%}\n{%- set ns.n = ns.n + m.content|length -%}\n"
                  "{%- if m.role == 'user' and not ns.found -%}{%- set ns.found = true -%}{%- set ns.names = ns.names + [m.role] -%}{%- endif -%}\n"
                  "{%- endfor -%}\n{{ ns.found }} {{ ns.n }} {{ ns.names }} {{ ns.missing is defined }}",
    "filters": "{{ messages | selectattr('role', 'equalto', 'user') | map(attribute='content') | list | tojson }}\n"
               "{{ messages | rejectattr('role', 'in', ['user', 'tool']) | list | length }}\n"
               "{%- for k, v in (messages | first | default({})).items() %}\n{{ k }}={{ v }};{% endfor %}\n"
               "{% for message in messages %}{{ loop.index }}/{{ loop.length }}{{ ',' if not loop.last else '.' }}{{ loop.cycle('a', 'b') }}"
               "{{ loop.previtem.role if loop.previtem is defined else '-' }}{% else %}nobody{% endfor %}",
    "tools": "{%- if tools %}{% for tool in tools %}{{ tool | tojson(indent=2) }}\n{% for k, v in tool.function.parameters.properties | items %}{{ k }}{{ v }}{% endfor %}"
             "{{ tool['function']['name'].split('_')[-1].upper() ~ 1 ~ none ~ true }}{% endfor %}{%- else %}no tools{% endif %}",
    "comments": "{# a comment #}\n{%- set x %}\n  block {{ 1 + 2 * 3 - 4 // 3 % 5 }}\n{% endset -%}\n   {#- another -#}\n[{{ x }}]\n{% raw %}{{ raw }}{% endraw %}\n"
                "   {% if true %}\n   kept\n   {% endif %}\n{%+ if true %} plus{% endif +%}\n",
}
# One construct each; Python's answers are the judge.
CONSTRUCTS = [
    "{{ 1 if false }}", "{{ 'a' ~ 1.0 ~ 2 ~ [1, 'x', none, true, {'k': 1.5}] }}", "{{ 7 / 2 }} {{ -7 // 2 }} {{ -7 % 3 }} {{ 2 ** 10 }} {{ 10 / 5 }}",
    "{{ 'abc'[::-1] }} {{ 'abcdef'[1:-1:2] }} {{ [1,2,3][-1] }} {{ [1,2,3][5] is defined }} {{ 'héllo'[1] }}",
    "{{ not true or false and x is defined }}", "{{ 1 < 2 }} {{ 'a' < 'b' }} {{ 1 == 1.0 }} {{ true == 1 }} {{ 'a' in 'cat' }} {{ 3 not in [1,2] }}",
    "{{ '  x '.strip() }}|{{ '--x--'.strip('-') }}|{{ 'a,b,c'.split(',') }}|{{ ' a  b '.split() }}|{{ 'a,b,c'.rsplit(',', 1) }}",
    "{{ 'abc'.startswith('ab') }} {{ 'abc'.endswith(('x', 'bc')) }} {{ 'abcabc'.replace('b', 'X', 1) }} {{ 'hello world'.title() }} {{ 'hELLO'.capitalize() }}",
    "{{ '-'.join(['a', 'b']) }} {{ ['a', 'b'] | join(', ') }} {{ 'abc'.find('c') }} {{ 'abc'.count('b') }} {{ 'a\\nb'.splitlines() }}",
    "{{ {'a': 1, 'b': [1]}.items() | map('last') | list }} {{ {'a': 1}.get('b', 2) }} {{ {'a': 1}.get('b') }} {{ {'a': {'b': 2}}.a.b }} {{ {'a': 1}['a'] }}",
    "{{ [3,1,2] | sort }} {{ [3,1,2] | sort(reverse=true) }} {{ [1,1,2] | unique | list }} {{ [1,2,3] | reverse | list }} {{ 'abc' | reverse }}",
    "{{ 'x' | default('y') }} {{ z | default('y') }} {{ '' | default('y', true) }} {{ none | default('y') }}",
    "{{ '12' | int + 1 }} {{ 'x' | int }} {{ '1.5' | float }} {{ 3.7 | int }} {{ 2.5 | round }} {{ 3.14159 | round(2) }} {{ -3 | abs }}",
    "{{ 'a' is string }} {{ 1 is number }} {{ [] is sequence }} {{ {} is mapping }} {{ none is none }} {{ 2 is even }} {{ 3 is odd }} {{ 4 is divisibleby(2) }} {{ x is undefined }} {{ true is boolean }} {{ 1 is integer }} {{ 'a' is iterable }}",
    "{% for i in range(3) %}{{ i }}{% if i == 1 %}{% break %}{% endif %}{% endfor %}", "{% for i in range(5) %}{% if i % 2 %}{% continue %}{% endif %}{{ i }}{% endfor %}",
    "{% for i in range(10, 0, -3) %}{{ i }} {{ loop.revindex }};{% endfor %}", "{% for a, b in [[1, 2], [3, 4]] %}{{ a + b }},{% endfor %}",
    "{% for x in [] %}{% else %}empty{% endfor %}", "{% for i in [1,2] %}{% for j in 'ab' %}{{ loop.index }}{{ j }}{{ loop.depth }}{% endfor %}{{ loop.index }}{% endfor %}",
    "{% set x = 1 %}{% for i in [1,2] %}{% set x = x + i %}{% endfor %}{{ x }}", "{% set a, b = 1, 2 %}{{ a }}{{ b }}", "{% set x = 'a' %}{% if true %}{% set x = 'b' %}{% endif %}{{ x }}",
    "{{ {'a': 'é\\n\"', 'b': [1, 2.5, true, none], 'c': {}} | tojson }}", "{{ [1, {'a': []}] | tojson(indent=4) }}", "{{ 'a\\tb\\u00e9\\x41' }}", "{{ \"it's\" }}{{ ['it\\'s'] }}",
    "{{ x.y }}", "{{ x.y.z }}", "{{ 'a' + 1 }}", "{{ 1 + none }}", "{{ undefined_function() }}", "{{ 'a'.nothing() }}", "{{ 'a' | nothing }}", "{{ raise_exception('no') }}", "{{ 1 // 0 }}",
    "{{ range(3) | list }}", "{{ [1, 2, 3] | length }} {{ 'héé' | length }} {{ {'a': 1} | count }}", "{{ 'A' | lower }}{{ 'é' | upper }}{{ 'ß' | lower }}", "{{ ['a', 'B', 'c'] | map('upper') | join }}",
    "{{ [1, 2, 3, 4] | select('even') | list }} {{ [0, 1, none, 'a'] | select | list }} {{ [1, 2, 3] | reject('gt', 1) | list }}",
    "{{ 'a\\nb\\n\\nc' | indent(2) }}", "{{ 'a\\nb' | indent(2, true) }}", "{{ {'b': 1, 'a': 2} | dictsort | map('first') | list }}", "{{ [] | first is defined }} {{ [1, 2] | last }}",
    "a {{- ' b ' -}} c", "  {%- if true -%}  x  {%- endif -%}  ", "line\n  {% if true %}\n  in\n  {% endif %}\nend\n", "\n\n{{ 'a' }}\n\n", "x{% if true %}\ny\n{% endif %}z", "{{ '{{' }}{{ '%}' }}",
    "{{ (1, 2) | length }} {{ [1,] }} {{ {'a': 1,} }}", "{% if 1 %}{% elif 2 %}{% else %}{% endif %}", "{% if not x and not y %}ok{% endif %}", "{{ 'yes' if 'a' in messages else 'no' }}", "{{ messages is defined and messages | length > 0 }}",
    "{% macro f(a, b=2) %}{{ a }}{{ b }}{% endmacro %}{{ f(1) }}{{ f(1, b=3) }}{{ f(a=4) }}", "{% macro f(n) %}{% if n > 0 %}{{ n }}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(3) }}",
    "{{ strftime_now('%Y-%m-%d') }}", "{{ 1.0 }} {{ 100000.5 }} {{ 0.1 + 0.2 }}", "{{ true and 'a' or 'b' }} {{ none or 'c' }} {{ '' and 'd' }}", "{{ 'a' 'b' }}", "{{ -2 ** 2 }} {{ 2 * 3 + 4 ~ 5 }}",
    "{{ 'abc' | replace('b', 'x') }} {{ ' x ' | trim }} {{ 'a b' | title }} {{ 'aXb' | capitalize }}", "{{ 'abc'.removeprefix('a') }} {{ '12'.isdigit() }} {{ 'ab'.isalpha() }} {{ ''.isdigit() }}",
    "{{ namespace(a=1).a }}", "{% set ns = namespace() %}{% set ns.x = [1] %}{{ ns.x[0] }}", "{{ dict(a=1, b=2) }}", "{{ {'a': 1} == {'a': 1.0} }} {{ [1] == [1] }} {{ [1] != [2] }}", "{% if x is not defined %}u{% endif %}{{ x is not none }}",
    "{{ }}", "{% if %}{% endif %}", "{% for %}{% endfor %}", "{% endif %}", "{% if true %}", "{{ 'a }}", "{{ (1 }}", "{% unknown %}", "{{ 1 | }}", "{{ a b }}", "{% set %}", "{# open", "{{ [1,2 }}",
]


def environment():
    env = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols])

    def raise_exception(message):
        raise jinja2.exceptions.TemplateError(message)

    def tojson(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
        return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)

    env.filters["tojson"] = tojson
    env.globals["raise_exception"] = raise_exception
    env.globals["strftime_now"] = lambda form: datetime.datetime.fromtimestamp(NOW, datetime.timezone.utc).strftime(form)
    return env


def expected(env, case):
    try:
        return env.from_string(case["template"]).render(
            messages=case["messages"], add_generation_prompt=case["add_generation_prompt"],
            bos_token=case["bos_token"], eos_token=case["eos_token"], **case["variables"])
    except Exception:  # whatever makes Jinja or Python give up
        return None


def templates(models, extra):
    yield from STYLES.items()
    for folder in ("smollm2-135m-instruct", "tokenizers/qwen3"):
        config = models / folder / "tokenizer_config.json"
        if config.exists():
            yield folder, json.loads(config.read_text())["chat_template"]
    phi3 = models / "tokenizers/llamacpp-vocabs/ggml-vocab-phi-3.gguf"
    if phi3.exists():
        yield "phi3", read_metadata(phi3)["tokenizer.chat_template"].decode()
    for path in extra:
        yield path.name, path.read_text()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", help="luminal_chat_cases")
    parser.add_argument("--models", type=pathlib.Path, required=True)
    parser.add_argument("templates", type=pathlib.Path, nargs="*", help="more templates to try")
    arguments = parser.parse_args()
    env = environment()
    cases = []

    def add(name, template, messages, prompt, variables):
        case = {"name": name, "template": template, "messages": messages, "add_generation_prompt": prompt,
                "bos_token": "<s>", "eos_token": "</s>", "variables": variables, "now": NOW}
        cases.append({**case, "expected": expected(env, case)})

    for name, template in templates(arguments.models, arguments.templates):
        for conversation, messages in CONVERSATIONS.items():
            for variables in ({}, {"tools": TOOLS}, {"enable_thinking": False, "date_string": "1 May"}):
                for prompt in (False, True):
                    add(f"{name}, {conversation}", template, messages, prompt, variables)
    for construct in CONSTRUCTS:
        add(construct, construct, CONVERSATIONS["long"], True, {})
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(cases, file)
        file.flush()
        sys.exit(subprocess.run([arguments.program, file.name]).returncode)


main()
