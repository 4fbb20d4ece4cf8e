extension ParameterValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByStringInterpolation, ExpressibleByArrayLiteral,
    ExpressibleByDictionaryLiteral
{
    /// Makes ``ParameterValue/null``.
    public init(nilLiteral: ()) { self = .null }

    /// Makes ``ParameterValue/bool(_:)``.
    public init(booleanLiteral value: Bool) { self = .bool(value) }

    /// Makes ``ParameterValue/integer(_:)``.
    public init(integerLiteral value: Int64) { self = .integer(value) }

    /// Makes ``ParameterValue/double(_:)``.
    public init(floatLiteral value: Double) { self = .double(value) }

    /// Makes ``ParameterValue/string(_:)``.
    public init(stringLiteral value: String) { self = .string(value) }

    /// Makes ``ParameterValue/array(_:)``.
    public init(arrayLiteral elements: ParameterValue...) { self = .array(elements) }

    /// Makes ``ParameterValue/dictionary(_:)`` in the written order. Names with a nil value are omitted.
    public init(dictionaryLiteral elements: (String, ParameterValue?)...) {
        self = .dictionary(elements.compactMap { key, value in value.map { Entry(key, $0) } })
    }
}
