"""Numbers and texts that hardly any field has room for, and the fields that a JSON schema has."""
import json

NINES = "9" * 400
# As JSON writes them: what a client's library would refuse to make is sent, too.
NUMBERS = [
    "2147483647", "2147483648", "-2147483648", "-2147483649", "4294967296", "9007199254740991", "9007199254740992",
    "-9007199254740993", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809",
    "18446744073709551615", "18446744073709551616", "1e300", "-1e300", "1e-300", "-0", "-0.0", "1e999", "-1e999", "1e-999",
    NINES, "-" + NINES, "0." + NINES, "0", "-1",
]
# Of them, those that no field takes but a stamp.
BEYOND = [number for number in NUMBERS if abs(float(number)) >= 2**63]
# No JSON: refused as that, by its place.
NO_NUMBERS = ["NaN", "Infinity", "-Infinity", "+1", "0x7fffffffffffffff", "1e", "01"]
TEXTS = [
    "sunrise-9223372036854775808", "sunset+9223372036854775807", "sunrise-" + NINES, "sunrise+", "sunrise--1",
    "9223372036854775807:00", "00:9223372036854775808", "-1:-1", "99:99", "9223372036854775808-01-01", "0000-00-00", "9999-99-99",
    "99-99", "292277026596-12-04T15:30:08Z", "-292277022657-01-27T08:29:52Z", "9999-12-31T23:59:60+23:59",
    "0000-01-01T00:00:00-23:59", "2026-11-26T00:00:00+9223372036854775807:00", "P9223372036854775807D", "1e300", "-1e300", "NaN",
    "9223372036854775808", "-9223372036854775809", NINES, "v9223372036854775808.18446744073709551616.0", "9223372036854775807 MB",
    "0x" + "f" * 40, "٣", "", "\u0000", "../" * 30,
]


class Schema:
    """Of an OpenAPI document: what its bodies hold."""

    def __init__(self, document, known=None):
        """`known`: values by the names of members, where what the schema says is not enough."""
        self.document, self.known = document, known or {}

    def plain(self, schema):
        """Without references and choices: the first of these that is an object, or else the first."""
        while True:
            if "$ref" in schema:
                found = self.document
                for step in schema["$ref"].removeprefix("#/").split("/"):
                    found = found[step]
                schema = found
            elif "allOf" in schema:
                parts = [self.plain(part) for part in schema["allOf"]]
                return {"type": "object", "properties": {name: one for part in parts for name, one in part.get("properties", {}).items()},
                        "required": [name for part in parts for name in part.get("required", [])]}
            elif choices := schema.get("oneOf") or schema.get("anyOf"):
                if "properties" in schema:
                    # A choice of what is required.
                    first = self.plain(choices[0])
                    return {**{key: one for key, one in schema.items() if key not in ("oneOf", "anyOf")},
                            "required": [*schema.get("required", []), *first.get("required", [])]}
                plain = [self.plain(one) for one in choices]
                return next((one for one in plain if kind(one) == "object"), plain[0])
            else:
                return schema

    def least(self, schema):
        """A value with what is required and nothing else."""
        schema = self.plain(schema)
        for key in ("example", "default", "const"):
            if key in schema and kind(schema) != "object":
                return schema[key]
        if schema.get("examples"):
            return schema["examples"][0]
        if "enum" in schema:
            return schema["enum"][0]
        match kind(schema):
            case "object":
                return {name: self.known.get(name, self.least(schema["properties"][name])) for name in schema.get("required", [])}
            case "array":
                return [self.least(schema["items"]) for _ in range(schema.get("minItems", 0))]
            case "integer" | "number":
                return schema.get("minimum", schema.get("exclusiveMinimum", 0) + 1 if "exclusiveMinimum" in schema else 1)
            case "boolean":
                return True
            case "string":
                return "a" * max(1, schema.get("minLength", 1))
        return None

    def leaves(self, schema, path=()):
        """(path, kind) of every number and every free text."""
        schema = self.plain(schema)
        match kind(schema):
            case "object":
                for name, one in schema.get("properties", {}).items():
                    yield from self.leaves(one, (*path, name))
            case "array":
                yield from self.leaves(schema["items"], (*path, 0))
            case "integer" | "number":
                yield path, "number"
            case "string" if "enum" not in schema:
                yield path, "text"

    def body(self, schema, path, text):
        """As JSON: the least body in which `text` stands at the path."""
        mark = "a mark that nothing else is"
        return json.dumps(self.put(schema, path, mark)).replace(json.dumps(mark), text)

    def put(self, schema, path, mark):
        if not path:
            return mark
        schema = self.plain(schema)
        if path[0] == 0:
            return [self.put(schema["items"], path[1:], mark), *self.least(schema)[1:]]
        return {**self.least(schema), path[0]: self.put(schema["properties"][path[0]], path[1:], mark)}


def kind(schema):
    kinds = schema.get("type")
    if isinstance(kinds, list):
        kinds = next(one for one in kinds if one != "null")
    return kinds or ("object" if "properties" in schema else None)
