/// The parameters of a request: an ordered tree of values, which each serializer writes in its own format.
///
/// ```swift
/// let parameters: RequestParameters = ["q": "swift", "page": 2, "tags": ["linux", "http"]]
/// ```
/// A form requires names at the top level; JSON also accepts an array.
public struct RequestParameters: Sendable, Hashable {
    /// The top-level value.
    public var root: ParameterValue

    /// Creates parameters from a value.
    public init(_ root: ParameterValue) { self.root = root }

    /// Creates empty parameters.
    public init() { root = .dictionary([]) }

    /// Creates parameters from a dictionary, sorted by name.
    public init(_ dictionary: [String: ParameterValue]) {
        let sorted = dictionary.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
        root = .dictionary(sorted.map { ParameterValue.Entry($0.key, $0.value) })
    }

    /// Creates parameters from a dictionary of values of one type, such as `[String: Int]`, sorted by name. Names with
    /// a nil value are omitted.
    public init(_ dictionary: [String: some ParameterConvertible]) { root = dictionary.parameterValue }

    /// Creates parameters from named values, in order.
    public init(_ entries: some Sequence<ParameterValue.Entry>) { root = .dictionary(Array(entries)) }

    /// The named values at the top level; empty for a top-level value of another kind.
    public var entries: [ParameterValue.Entry] {
        if case .dictionary(let entries) = root { entries } else { [] }
    }

    /// Whether there is no named value and no element.
    public var isEmpty: Bool {
        switch root {
        case .dictionary(let entries): entries.isEmpty
        case .array(let values), .set(let values): values.isEmpty
        default: false
        }
    }

    /// The value for a name at the top level: the last of several, nil if there is none.
    ///
    /// Setting replaces the first value and removes the others, or appends a new one; setting nil removes all. Use
    /// `.null` for a value that is null.
    public subscript(key: String) -> ParameterValue? {
        get { root[key] }
        set { root[key] = newValue }
    }

    /// The value for a name at the top level, or `default` if there is none; changes are stored.
    ///
    /// ```swift
    /// parameters["filter", default: [:]]["state"] = "open"
    /// ```
    public subscript(key: String, default value: @autoclosure () -> ParameterValue) -> ParameterValue {
        get { root[key] ?? value() }
        set { root[key] = newValue }
    }

    /// Appends a named value, even if the name is present.
    public mutating func append(_ key: String, _ value: ParameterValue) {
        guard case .dictionary(var entries) = root else {
            root = .dictionary([ParameterValue.Entry(key, value)])
            return
        }
        root = .null
        entries.append(ParameterValue.Entry(key, value))
        root = .dictionary(entries)
    }

    /// Sets the named values of `other`, in order.
    public mutating func merge(_ other: RequestParameters) {
        var merged = root
        for entry in other.entries { merged[entry.key] = entry.value }
        root = merged
    }
}

extension RequestParameters: ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral {
    /// Creates parameters in the literal's order, from values of any ``ParameterConvertible`` types.
    ///
    /// Names with a nil value are omitted, in the same way as `Encodable` properties, and as setting nil removes a
    /// name. Write ``ParameterValue/null`` for a name without a value in a query, or `null` in JSON.
    ///
    /// A nested literal with values of several types needs a type: `["filter": ["a": 1, "b": "c"] as ParameterValue]`.
    public init(dictionaryLiteral elements: (String, (any ParameterConvertible)?)...) {
        root = .dictionary(
            elements.compactMap { key, value in value?.presentValue.map { ParameterValue.Entry(key, $0) } })
    }

    /// Creates parameters with a top-level array, for JSON; a nil element is null.
    public init(arrayLiteral elements: (any ParameterConvertible)?...) {
        root = .array(elements.map { $0?.parameterValue ?? .null })
    }
}

/// The maximum nesting of parameters, which protects the thread's stack.
enum NestingLimit {
    static let parameters = 512

    static func check(_ depth: Int) throws(SerializationError) {
        guard depth <= parameters else {
            throw SerializationError(
                code: .nestedTooDeep,
                message: "The value is nested deeper than \(parameters) levels."
            )
        }
    }
}
