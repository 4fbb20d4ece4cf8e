extension JSONValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByStringInterpolation, ExpressibleByArrayLiteral,
    ExpressibleByDictionaryLiteral
{
    /// Makes ``JSONValue/null``.
    public init(nilLiteral: ()) { self = .null }

    /// Makes ``JSONValue/bool(_:)``.
    public init(booleanLiteral value: Bool) { self = .bool(value) }

    /// Makes ``JSONValue/number(_:)``.
    public init(integerLiteral value: Int64) { self = .number(JSONNumber(value)) }

    /// Makes ``JSONValue/number(_:)``, or null if the literal is beyond a `Double`.
    public init(floatLiteral value: Double) { self = JSONNumber(value).map(JSONValue.number) ?? .null }

    /// Makes ``JSONValue/string(_:)``.
    public init(stringLiteral value: String) { self = .string(value) }

    /// Makes ``JSONValue/array(_:)``.
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }

    /// Makes ``JSONValue/object(_:)``, in the order written.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        var object = JSONObject()
        for (key, value) in elements { object.set(key, value) }
        self = .object(object)
    }
}
