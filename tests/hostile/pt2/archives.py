"""Bad .pt2 archives, one of each kind: yields (name, bytes, what the error says; None for a graph that is right)."""
import json
import struct
import zipfile

from small_pt2 import F32, I64, LENGTH, ROOT, Archive, floats, meta, node, size, stored, tensor, zipped

END, ENTRY = b"PK\5\6", b"PK\1\2"
CASES = []


def case(says, name=None):
    """Makes a case of a function that changes an Archive; its name says what is wrong."""
    def add(change):
        def made():
            archive = Archive()
            found = change(archive)
            return archive.bytes() if found is None else found
        CASES.append((name or change.__name__.replace("_", " "), made, says))
        return change
    return add


def patched(data, marker, offset, value, which=0):
    """With bytes at an offset from the given occurrence of a marker."""
    at = -1
    for _ in range(which + 1):
        at = data.index(marker, at + 1)
    at += offset
    return data[:at] + value + data[at + len(value):]


def of_zip(name, says, change):
    CASES.append((name, lambda: change(Archive().bytes()), says))


def of_member(name, says, member, content):
    def change(archive):
        archive.members[member] = content
    case(says, name)(change)


def of_json(name, says, change):
    """`change` gets the text of models/model.json."""
    def made(archive):
        archive.members["models/model.json"] = change(json.dumps(archive.program)).encode()
    case(says, name)(made)


# The zip archive.
of_zip("an empty file", "too short", lambda data: b"")
of_zip("one byte", "too short", lambda data: b"P")
of_zip("no archive", "no zip archive", lambda data: b"x" * 1000)
of_zip("text", "no zip archive", lambda data: b"luminal-graph 1\n" * 10)
of_zip("a directory with too many entries", "directory is damaged", lambda data: patched(data, END, 10, b"\xff\x00"))
of_zip("a directory that begins elsewhere", "directory is damaged", lambda data: patched(data, END, 16, b"\x09\x00\x00\x00"))
of_zip("a directory outside of the file", "cut short", lambda data: patched(data, END, 16, b"\xf0\xff\xff\xff"))
of_zip("a damaged entry", "directory is damaged", lambda data: patched(data, ENTRY, 0, b"PK\7\7", 3))
of_zip("a member elsewhere", "isn't where the directory says", lambda data: patched(data, ENTRY, 42, b"\x07\0\0\0"))
of_zip("a member outside of the file", "cut short", lambda data: patched(data, ENTRY, 42, b"\xf0\xff\xff\xff"))
of_zip("a member at another's place", "isn't where the directory says", lambda data: patched(data, ENTRY, 42, b"\0\0\0\0", 2))
of_zip("a member larger than the file", "cut short", lambda data: patched(data, ENTRY, 20, b"\xff\xff\xff\x7f" * 2))
of_zip("a member that reaches into the next", "overlap", lambda data: patched(data, ENTRY, 20, b"\x30\0\0\0" * 2))
of_zip("the last member reaches into the directory", "overlap", lambda data: patched(data, ENTRY, 20, b"\x20\0\0\0" * 2, 10))
of_zip("packed sizes that differ", "is compressed", lambda data: patched(data, ENTRY, 20, b"\x02\0\0\0"))
of_zip("an encrypted member", "is encrypted", lambda data: patched(data, ENTRY, 8, b"\1\0"))
of_zip("an unknown method", "is compressed", lambda data: patched(data, ENTRY, 10, b"\x63\0"))
of_zip("a name that is no UTF-8", "no UTF-8", lambda data: patched(data, ENTRY, 46, b"\xff"))
of_zip("a name without an end", "name of entry 0", lambda data: patched(data, ENTRY, 28, b"\xff\x00"))
of_zip("an extra field without an end", "cut short", lambda data: patched(data, ENTRY, 30, b"\xff\xff", 10))
of_zip("64-bit sizes that aren't there", "cut short", lambda data: patched(data, ENTRY, 20, b"\xff" * 8))
CASES.append(("compressed members", lambda: zipped(
    [(ROOT + name, content * 5) for name, content in Archive().parts().items()], zipfile.ZIP_DEFLATED), "is compressed"))
CASES.append(("a member twice", lambda: zipped(
    [(ROOT + name, content) for name, content in [*Archive().parts().items(), ("byteorder", b"little")]]), "is there twice"))
CASES.append(("a name that leads outside", lambda: zipped(
    [*((ROOT + name, content) for name, content in Archive().parts().items()), ("../../outside", b"x")]), "leads out"))
CASES.append(("an absolute name", lambda: zipped(
    [*((ROOT + name, content) for name, content in Archive().parts().items()), ("/etc/outside", b"x")]), "leads out"))
CASES.append(("two programs", lambda: zipped(
    [(root + name, content) for root in ("a/", "b/") for name, content in Archive().parts().items()]), "two programs"))
CASES.append(("no members", lambda: zipped([]), "no archive_format"))
CASES.append(("another kind of archive", lambda: zipped([("word/document.xml", b"<x/>")]), "no archive_format"))


def large_directory(at_record=None, count=1, start=0, magic=b"PK\6\6"):
    """With a 64-bit directory before the end record."""
    def change(data):
        at = data.index(END)
        record = magic + struct.pack("<QHHIIQQQQ", 44, 45, 45, 0, 0, count, count, 0, start)
        locator = b"PK\6\7" + struct.pack("<IQI", 0, at if at_record is None else at_record, 1)
        return data[:at] + record + locator + data[at:]
    return change


of_zip("a 64-bit directory outside of the file", "cut short", large_directory(2**63))
of_zip("a 64-bit directory at the last byte", "cut short", large_directory(2**64 - 1))
of_zip("a 64-bit directory elsewhere", "isn't where it says", large_directory(magic=b"PK\6\5"))
of_zip("2^63 members", "over the limit", large_directory(count=2**63))
of_zip("a million members", "directory is damaged", large_directory(count=2**20))
of_zip("64-bit entries outside of the file", "cut short", large_directory(start=2**64 - 4))
of_zip("an end within its own comment", "no archive_format", lambda data: data[:-2] + b"\x16\0" + END + b"\0" * 12 + b"\xff" * 4 + b"\0\0")

# Members.
for gone, says in (("archive_format", "no archive_format"), ("archive_version", "no member 'small/archive_version'"),
                   ("byteorder", "no member 'small/byteorder'"), ("models/model.json", "no member 'small/models/model.json'"),
                   ("data/weights/weight_1", "no member 'small/data/weights/weight_1'"),
                   ("data/weights/model_weights_config.json", "the elements of 'weight' aren't in it"),
                   ("data/constants/model_constants_config.json", "the elements of 'shift' aren't in it")):
    of_member(f"no {gone}", says, gone, None)
of_member("another format", "archive_format isn't pt2", "archive_format", b"pt3")
of_member("another version", "archive_version is '7'", "archive_version", b"7")
of_member("another byte order", "little-endian", "byteorder", b"big")
of_member("an empty program", "models/model.json", "models/model.json", b"")
of_member("a program that is no JSON", "models/model.json", "models/model.json", b"\x80\x02}q\0.")
of_member("a list of weights", "model_weights_config.json", "data/weights/model_weights_config.json", b"[1, 2]")
of_member("weights nested deeply", "nested too deeply", "data/weights/model_weights_config.json", b"[" * 100_000)
of_member("a storage that is cut short", "reaches outside of its storage", "data/weights/weight_0", floats(*range(11)))

# JSON.
of_json("a program nested deeply", "nested too deeply", lambda text: '{"a":' * 100_000 + "1" + "}" * 100_000)
of_json("a program that is cut short", "models/model.json", lambda text: text[:len(text) // 2])
of_json("not a number", "models/model.json", lambda text: text.replace('"as_int": 3', '"as_int": NaN'))
of_json("a dim beyond 64 bits", "no integer of 64 bits", lambda text: text.replace('{"as_int": 4}', '{"as_int": 18446744073709551615}'))
of_json("a dim beyond all numbers", "models/model.json", lambda text: text.replace('{"as_int": 4}', '{"as_int": 1e999}'))
of_json("a dim with a fraction", "no integer of 64 bits", lambda text: text.replace('{"as_int": 4}', '{"as_int": 4.5}'))
of_json("a dim that is a text", "no integer of 64 bits", lambda text: text.replace('{"as_int": 4}', '{"as_int": "4"}'))
of_json("a dim that is true", "no integer of 64 bits", lambda text: text.replace('{"as_int": 4}', '{"as_int": true}'))
of_json("a negative dim", "'weight' is f32[3, -4] in the graph", lambda text: text.replace('{"as_int": 4}', '{"as_int": -4}'))
of_json("half of a character", "models/model.json", lambda text: text.replace('"mul"', '"\\ud800"'))
of_json("a name with control characters", "control characters", lambda text: text.replace('"mul"', '"\\u001b[2J"'))
of_json("nothing but null", "models/model.json", lambda text: "null")
of_json("no graph", "models/model.json", lambda text: text.replace('"graph_module"', '"graph"'))
of_json("no nodes", "models/model.json", lambda text: text.replace('"nodes"', '"edges"'))
of_json("nodes that are a number", "node 0", lambda text: text[:text.index('"nodes": ')] + '"nodes": 7, "rest": ' + text[text.index('"nodes": ') + 9:])
of_json("a union with no field", "input 0: a tagged union has no field", lambda text: text.replace('{"parameter": ', '{}, {"x": ', 1))
of_json("keys twice", None, lambda text: text.replace('"verifiers"', '"verifiers": [], "verifiers"'))


@case("schema version 9.0 isn't known")
def a_schema_of_tomorrow(archive):
    archive.program["schema_version"] = {"major": 9, "minor": 0}


# Sizes.
@case("which are an empty range")
def an_empty_range(archive):
    archive.program["range_constraints"]["s77"] = {"min_val": 9, "max_val": 3}


@case("which are an empty range")
def a_range_below_0(archive):
    archive.program["range_constraints"]["s77"] = {"min_val": -9, "max_val": -3}


@case("no integer of 64 bits")
def a_range_of_text(archive):
    archive.program["range_constraints"]["s77"] = {"min_val": "2", "max_val": 3}


def of_size(name, says, expression):
    def change(archive):
        archive.graph()["tensor_values"]["x"]["sizes"][0] = size(expression)
    case(says, name)(change)


of_size("an expression of nothing", "expected Integer", "")
of_size("an unknown head", "expected Integer", "Sin(Integer(1))")
of_size("code", "expected Integer", "__import__('os').system('true')")
of_size("an expression without an end", "expected", "Add(Integer(1), ")
of_size("an integer beyond 64 bits", "an integer at character", "Integer(99999999999999999999)")
of_size("a symbol that is no name", "no name for a variable", "Symbol('a b')")
of_size("an expression nested deeply", "nested less deeply", "Add(" * 100_000)
of_size("a long sum", "fewer parts", f"Add({', '.join([LENGTH] * 20_000)})")
of_size("a long sum of symbols", "fewer parts", "Add(" + ", ".join(f"Symbol('s{i}')" for i in range(20_000)) + ")")
of_size("a product of sums", "", "Mul(" + ", ".join(
    "Add(" + ", ".join(f"Symbol('s{i * 8 + j}')" for j in range(8)) + ")" for i in range(60)) + ")")
of_size("powers of powers", "fewer parts", "Pow(" * 12 + f"Add({LENGTH}, Symbol('b'), Symbol('c'), Integer(1))" + ", Integer(16))" * 12)
of_size("quotients of quotients", "", "FloorDiv(" * 190 + "Symbol('a')" + "".join(f", Integer({k + 2}))" for k in range(190)))
of_size("a large power", "a small whole power", f"Pow({LENGTH}, Integer(1000000000))")
of_size("a division by zero", "", f"FloorDiv({LENGTH}, Integer(0))")
of_size("a product beyond 64 bits", "", "Mul(Integer(9223372036854775807), Integer(9223372036854775807))")
of_size("a dim below 0", "", "Integer(-4)")


@case(None)
def a_symbol_without_a_range(archive):
    archive.program["range_constraints"] = {}


@case("which are an empty range")
def guards_that_leave_no_size(archive):
    archive.graph()["tensor_values"]["y"] = meta(F32, ["Symbol('s5')"])
    archive.signature()["input_specs"].append({"user_input": {"arg": tensor("y")}})
    archive.program["range_constraints"]["s5"] = {"min_val": 100, "max_val": 200}
    archive.program["guards_code"] = ["L['x'].size()[0] == L['y'].size()[0]"]


@case("")
def many_dims(archive):
    archive.graph()["tensor_values"]["x"] = meta(F32, [1] * 30_000)


@case("")
def dims_beyond_64_bits(archive):
    archive.graph()["tensor_values"]["x"] = meta(F32, [2**40, 2**40, 4], [0, 0, 1])


@case("'as_name'")
def a_number_that_is_not_described(archive):
    archive.signature()["input_specs"].append({"user_input": {"arg": {"as_sym_int": {"as_int": 3}}}})


# Weights.
@case("is stored as a pickle")
def a_pickle(archive):
    archive.weights["config"]["bias"]["use_pickle"] = True


@case("has dtype number 99")
def an_unknown_dtype(archive):
    archive.weights["config"]["bias"]["tensor_meta"]["dtype"] = 99


@case("is complex64")
def complex_numbers(archive):
    archive.weights["config"]["bias"]["tensor_meta"]["dtype"] = 10


def of_weight(name, says, **changes):
    def change(archive):
        archive.weights["config"]["weight"]["tensor_meta"] |= {key: value if key == "dtype" else [size(each) for each in value]
                                                                if isinstance(value, list) else size(value)
                                                                for key, value in changes.items()}
    case(says, name)(change)


OUTSIDE = "'weight' reaches outside of its storage of 48 bytes"
of_weight("strides that reach outside", OUTSIDE, strides=[4, 3])
of_weight("a stride below 0", OUTSIDE, strides=[-1, 3])
of_weight("strides beyond 64 bits", OUTSIDE, strides=[2**62, 2**62])
of_weight("too few strides", OUTSIDE, strides=[1])
of_weight("an offset outside", OUTSIDE, storage_offset=1)
of_weight("an offset below 0", OUTSIDE, storage_offset=-1)
of_weight("an offset beyond 64 bits", OUTSIDE, storage_offset=2**63 - 1)
of_weight("dims beyond 64 bits of a weight", OUTSIDE, sizes=[2**62, 2**62], strides=[1, 3])
of_weight("dims below 0", OUTSIDE, sizes=[-3, 4])
of_weight("dims that are symbols", "'as_int'", sizes=[LENGTH, 4])
of_weight("dims that the graph doesn't say", "'weight' is f32[3, 4] in the graph, and f32[4, 3] among the tensors",
          sizes=[4, 3], strides=[3, 1])
of_weight("a dtype that the graph doesn't say", "'weight' is f32[3, 4] in the graph, and i32[3, 4]", dtype=4)
of_weight("wider elements than the storage has", OUTSIDE, dtype=8)


@case("repeats the elements of its storage")
def a_terabyte_of_one_number(archive):
    dims = [2**20, 2**20]
    archive.graph()["tensor_values"]["p_weight"] = meta(F32, dims)
    archive.weights["config"]["weight"]["tensor_meta"] = meta(F32, dims, [0, 0])


@case("repeats the elements of its storage")
def a_thousand_copies_of_a_storage(archive):
    for k in range(1000):
        archive.weights["config"][f"more{k}"] = stored("weight_0", meta(F32, [5000, 3, 4], [0, 1, 3]))


@case(None)
def a_number_that_is_repeated(archive):
    archive.weights["config"]["bias"] = stored("weight_2", meta(F32, [3], [0]))


@case(None)
def tied_weights(archive):
    archive.constants["config"]["shift"] = stored("../weights/weight_1", meta(F32, [3]))
    archive.constants["config"] = {}
    archive.weights["config"]["shift"] = stored("weight_1", meta(F32, [3]))


@case("'bias' reaches outside of its storage of 4 bytes")
def tied_weights_that_disagree(archive):
    archive.weights["config"]["bias"]["path_name"] = "weight_2"


@case("is among the weights and the constants")
def a_tensor_in_both(archive):
    archive.constants["config"]["bias"] = stored("tensor_0", meta(F32, [3]))


@case("no member 'small/data/weights/../../../../etc/passwd'")
def a_path_that_leads_outside(archive):
    archive.weights["config"]["bias"]["path_name"] = "../../../../etc/passwd"


# The graph.
@case("there is no value 'nothing'")
def an_unknown_name(archive):
    archive.nodes()[1]["inputs"][0]["arg"] = tensor("nothing")


@case("there is no value 'add'")
def a_cycle(archive):
    archive.nodes()[0]["inputs"][0]["arg"] = tensor("add")


@case("there is no value 'mul'")
def a_call_of_itself(archive):
    archive.nodes()[1]["inputs"][1]["arg"] = tensor("mul")


@case("its argument 'other' is missing")
def a_missing_argument(archive):
    archive.nodes()[1]["inputs"].pop()


@case("its argument 'more' isn't known")
def an_argument_too_many(archive):
    archive.nodes()[1]["inputs"].append({"name": "more", "arg": {"as_int": 1}, "kind": 1})


@case("its argument '' isn't known")
def too_many_by_position(archive):
    archive.nodes()[1]["inputs"] = [{"name": "", "arg": tensor("linear"), "kind": 1}] * 9


@case("aten.linear.default in first (/home/user/model.py:12: y = self.first(x))")
def a_wrong_kind_of_argument(archive):
    archive.nodes()[0]["inputs"][0]["arg"] = {"as_string": "x"}


@case("'as_magic'")
def an_unknown_kind_of_argument(archive):
    archive.nodes()[0]["inputs"][0]["arg"] = {"as_magic": 1}


@case("node 1")
def inputs_that_are_a_text(archive):
    archive.nodes()[1]["inputs"] = "self"


@case("2 operators aren't supported yet")
def unknown_operators(archive):
    for k in range(100):
        archive.call(f"aten.unknown{k % 2}.default", [("self", tensor(f"u{k - 1}"))], f"u{k}")


@case("operators aren't supported yet")
def ten_thousand_unknown_operators(archive):
    archive.nodes()[:] = [node(f"aten.unknown{k}.default", [("self", tensor(f"u{k - 1}"))], f"u{k}") for k in range(10_000)]
    archive.give("u9999")


@case("this operator isn't supported yet")
def an_operator_of_python(archive):
    archive.call("os.system", [("command", {"as_string": "true"})], "result")


@case(None)
def an_unknown_operator_that_nothing_needs(archive):
    archive.nodes().append(node("aten.unknown.default", [("self", tensor("add"))], "unused"))


@case("is no tensor or number")
def an_output_of_text(archive):
    archive.signature()["output_specs"] = [{"user_output": {"arg": {"as_string": "x"}}}]


@case("there is no value 'nothing'")
def an_unknown_output(archive):
    archive.give("nothing")


@case("isn't supported: export the model for inference")
def an_output_of_training(archive):
    archive.signature()["output_specs"].append({"loss_output": {"arg": {"name": "add"}}})


@case("can't be read without Python")
def an_input_of_a_script_object(archive):
    archive.signature()["input_specs"].append({"custom_obj": {"arg": {"name": "o"}, "custom_obj_name": "o"}})


@case(None)
def no_outputs(archive):
    archive.signature()["output_specs"] = []


@case("")
def a_mutation_of_no_buffer(archive):
    archive.signature()["output_specs"].append({"buffer_mutation": {"arg": {"name": "add"}, "buffer_name": "nothing"}})


@case("")
def a_mutation_of_another_shape(archive):
    archive.signature()["output_specs"].append({"buffer_mutation": {"arg": {"name": "add"}, "buffer_name": "scale"}})


@case("")
def an_input_twice(archive):
    archive.signature()["input_specs"].append({"parameter": {"arg": {"name": "p_weight"}, "parameter_name": "weight"}})


@case(None)
def an_input_named_like_a_weight(archive):
    archive.graph()["tensor_values"]["bias"] = archive.graph()["tensor_values"].pop("x")
    archive.signature()["input_specs"][-1] = {"user_input": {"arg": tensor("bias")}}
    archive.nodes()[0]["inputs"][0]["arg"] = tensor("bias")


@case("")
def dims_that_do_not_fit(archive):
    archive.graph()["tensor_values"]["x"] = meta(F32, [LENGTH, 5])


@case(None)
def other_dims_of_results(archive):
    archive.graph()["tensor_values"]["add"] = meta(I64, [9, 9, 9])


@case("")
def two_billion_results(archive):
    archive.call("aten.expand.default", [("self", tensor("b_scale")), ("size", {"as_ints": [2**31 - 1, 1]})], "wide")
    archive.call("aten.unbind.int", [("self", tensor("wide")), ("dim", {"as_int": 0})], "piece")


@case("")
def two_billion_pieces(archive):
    archive.call("aten.expand.default", [("self", tensor("b_scale")), ("size", {"as_ints": [2**31 - 1, 1]})], "wide")
    archive.call("aten.split.Tensor", [("self", tensor("wide")), ("split_size", {"as_int": 1})], "piece")


@case("")
def two_billion_chunks(archive):
    archive.call("aten.expand.default", [("self", tensor("b_scale")), ("size", {"as_ints": [2**31 - 1, 1]})], "wide")
    archive.call("aten.chunk.default", [("self", tensor("wide")), ("chunks", {"as_int": 2**31 - 1})], "piece")


@case("")
def views_of_views(archive):
    """Each write goes through all of them."""
    archive.call("aten.clone.default", [("self", tensor("add"))], "v0")
    for k in range(1500):
        archive.call("aten.transpose.int", [("self", tensor(f"v{k}")), ("dim0", {"as_int": 0}), ("dim1", {"as_int": 1})], f"v{k + 1}")
    for k in range(1500):
        archive.call("aten.add_.Scalar", [("self", tensor("v1500")), ("other", {"as_int": 1})], f"w{k}")


@case("")
def a_deep_graph(archive):
    for k in range(6000):
        before = f"a{k - 1}" if k else "add"
        archive.call("aten.add.Tensor", [("self", tensor(before)), ("other", tensor(before))], f"a{k}")


@case("")
def a_huge_tensor(archive):
    archive.call("aten.full.default", [("size", {"as_ints": [2**40]}), ("fill_value", {"as_float": 1.0})], "full")


@case("")
def a_huge_list(archive):
    archive.call("aten.full.default", [("size", {"as_ints": [1] * 100_000}), ("fill_value", {"as_float": 1.0})], "full")


@case(None)
def a_trace_of_anything(archive):
    archive.nodes()[1]["metadata"] = {"stack_trace": 'File "\x1b[2J", line 9x', "nn_module_stack": ";;,,;"}


@case("node 1")
def a_trace_that_is_a_number(archive):
    archive.nodes()[1]["metadata"] = {"stack_trace": 7}


def all_cases():
    """(name, bytes, says)"""
    yield from ((name, made(), says) for name, made, says in CASES)
    whole = Archive().bytes()
    for part in range(40):
        yield f"cut after {part} of 40 parts", whole[:len(whole) * part // 40], "small.pt2"
