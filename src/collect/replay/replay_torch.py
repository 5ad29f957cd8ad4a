# Runs one recorded operator under PyTorch and times it. It reads a request (JSON) on its standard
# input and answers in lines that begin with "rankscope-replay".
import ast
import json
import sys


def say(key, value):
    text = " ".join(str(value).split())[:300]
    sys.stdout.write("\nrankscope-replay %s %s\n" % (key, text))
    sys.stdout.flush()


def leave(status, why):
    say("detail", why)
    say("status", status)
    sys.exit(0)


class Unsupported(Exception):
    pass


def load(text):
    return json.loads(text) if text else []


def at(values, i):
    return values[i] if i < len(values) else None


TYPES = {
    "double": "float64", "float": "float32", "c10::Half": "float16", "c10::BFloat16": "bfloat16",
    "long": "int64", "long int": "int64", "int": "int32", "bool": "bool",
    "c10::Float8_e4m3fn": "float8_e4m3fn", "c10::Float8_e5m2": "float8_e5m2",
    "c10::Float8_e4m3fnuz": "float8_e4m3fnuz", "c10::Float8_e5m2fnuz": "float8_e5m2fnuz",
}


def tensor(torch, type_name, dims, strides):
    dtype = getattr(torch, TYPES[type_name], None)
    if dtype is None:
        raise Unsupported("this PyTorch has no type %s" % type_name)
    if strides is None or len(strides) != len(dims):
        raise Unsupported("the trace has no strides of a tensor")
    out = torch.empty_strided(dims, strides, dtype=dtype, device="cuda")
    if type_name.startswith("c10::Float8"):
        out.copy_(torch.randn(dims, device="cuda"))
    elif dtype.is_floating_point:
        out.normal_()
    else:
        raise Unsupported("values of a tensor of type %s are not known" % type_name)
    return out


def value(text):
    """A recorded value other than a tensor. Returns None for an empty text."""
    if text is None or text == "" or text == "None":
        return None
    if not isinstance(text, str):
        return text
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        pass
    try:
        return float(text)
    except ValueError:
        raise Unsupported("a recorded value cannot be used: %s" % text[:60])


def arguments(torch, request):
    dims, types = load(request["dims"]), load(request["types"])
    strides, concrete = load(request["strides"]), load(request["concrete"])
    out = []
    for i in range(max(len(dims), len(types), len(concrete))):
        type_name, shape = at(types, i), at(dims, i)
        if type_name in TYPES and isinstance(shape, list):
            if any(isinstance(d, list) for d in shape):
                raise Unsupported("lists of tensors are not rebuilt")
            out.append(tensor(torch, type_name, shape, at(strides, i)))
        elif type_name in ("", None, "Scalar", "ScalarList", "Device", "None"):
            out.append(value(at(concrete, i)))
        else:
            raise Unsupported("arguments of type %s are not rebuilt" % type_name)
    return out


def fits(torch, kind, arg):
    """Whether a value may stand for an argument of a schema's type."""
    if arg is None:
        return kind.startswith("Optional[") or kind.endswith("?")
    if kind.startswith("Optional["):
        kind = kind[len("Optional["):-1]
    kind = kind.rstrip("?")
    if isinstance(arg, torch.Tensor):
        return kind == "Tensor"
    if isinstance(arg, bool):
        return kind in ("bool", "number", "Scalar")
    if isinstance(arg, int):
        return kind in ("int", "SymInt", "float", "number", "Scalar", "ScalarType")
    if isinstance(arg, float):
        return kind in ("float", "number", "Scalar")
    if isinstance(arg, (list, tuple)):
        return kind.startswith("List[") or "[" in kind
    return False


def find(torch, name, args):
    """The overload whose schema has as many arguments of fitting types, with the call's words."""
    if "::" not in name:
        raise Unsupported("not an operator of PyTorch")
    space, short = name.split("::", 1)
    packet = getattr(getattr(torch.ops, space), short)
    for overload in packet.overloads():
        op = getattr(packet, overload)
        wanted = op._schema.arguments
        if len(wanted) != len(args) or any(a.is_out for a in wanted):
            continue
        if all(fits(torch, str(a.type), arg) for a, arg in zip(wanted, args)):
            plain = [arg for a, arg in zip(wanted, args) if not a.kwarg_only]
            words = {a.name: arg for a, arg in zip(wanted, args) if a.kwarg_only}
            return op, plain, words
    raise Unsupported("no overload accepts the recorded arguments")


def main():
    request = json.load(sys.stdin)
    try:
        import torch
    except Exception as error:
        leave("missing", "Python cannot import torch: %s" % error)
    if not torch.cuda.is_available():
        leave("missing", "PyTorch sees no GPU")
    say("device", torch.cuda.get_device_name(0))
    try:
        args = arguments(torch, request)
        op, plain, words = find(torch, request["name"], args)
    except Unsupported as error:
        leave("unsupported", error)
    except AttributeError as error:
        leave("unsupported", "PyTorch knows no such operator: %s" % error)
    except Exception as error:
        leave("failed", error)
    try:
        with torch.no_grad():
            for _ in range(request["warm_up"]):
                op(*plain, **words)
            torch.cuda.synchronize()
            begin = torch.cuda.Event(enable_timing=True)
            end = torch.cuda.Event(enable_timing=True)
            begin.record()
            for _ in range(request["calls"]):
                op(*plain, **words)
            end.record()
            torch.cuda.synchronize()
        say("time_us", repr(begin.elapsed_time(end) * 1e3 / request["calls"]))
    except Exception as error:
        leave("failed", error)
    say("status", "ok")


main()
