/// A request's parameters: an ordered tree of values that each serializer writes in its own way.
///
/// ```swift
/// let parameters: Parameters = ["q": "swift", "page": 2, "tags": ["linux", "http"]]
/// ```
/// The form serializer wants names at the top; JSON also takes an array.
public struct Parameters: Sendable, Hashable {
    /// The value at the top of the tree.
    public var root: ParameterValue

    /// Creates parameters from a value.
    public init(_ root: ParameterValue) { self.root = root }

    /// Creates parameters without a value in them.
    public init() { root = .dictionary([]) }

    /// Creates parameters from a dictionary, ordered by name.
    public init(_ dictionary: [String: ParameterValue]) {
        let sorted = dictionary.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
        root = .dictionary(sorted.map { ParameterValue.Entry($0.key, $0.value) })
    }

    /// Creates parameters from named values, in their order.
    public init(_ entries: some Sequence<ParameterValue.Entry>) { root = .dictionary(Array(entries)) }

    /// The named values at the top; empty if there is something else.
    public var entries: [ParameterValue.Entry] {
        if case .dictionary(let entries) = root { entries } else { [] }
    }

    /// Whether there is nothing to send: no named value, no element.
    public var isEmpty: Bool {
        switch root {
        case .dictionary(let entries): entries.isEmpty
        case .array(let values), .set(let values): values.isEmpty
        default: false
        }
    }

    /// The value of a name at the top: the last if there are several, nil if there is none.
    ///
    /// Setting replaces the first in its place and removes the others, appends if there was none, and with nil removes.
    /// Write `.null` for a value that is null.
    public subscript(key: String) -> ParameterValue? {
        get { root[key] }
        set { root[key] = newValue }
    }

    /// The value of a name at the top, and `default` if there is none; what is changed in it is set.
    ///
    /// ```swift
    /// parameters["filter", default: [:]]["state"] = "open"
    /// ```
    public subscript(key: String, default value: @autoclosure () -> ParameterValue) -> ParameterValue {
        get { root[key] ?? value() }
        set { root[key] = newValue }
    }

    /// Adds a named value at the end, also if the name is there already.
    public mutating func append(_ key: String, _ value: ParameterValue) {
        guard case .dictionary(var entries) = root else {
            root = .dictionary([ParameterValue.Entry(key, value)])
            return
        }
        root = .null
        entries.append(ParameterValue.Entry(key, value))
        root = .dictionary(entries)
    }

    /// Sets each named value at the top of `other`, in its order.
    public mutating func merge(_ other: Parameters) {
        var merged = root
        for entry in other.entries { merged[entry.key] = entry.value }
        root = merged
    }
}

extension Parameters: ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral {
    /// Creates parameters in the order written, of anything that can be a parameter; nil is null.
    ///
    /// Within a dictionary or an array of several types, write `ParameterValue`: `["filter": ["a": 1, "b": "c"] as ParameterValue]`.
    public init(dictionaryLiteral elements: (String, (any ParameterConvertible)?)...) {
        root = .dictionary(elements.map { ParameterValue.Entry($0.0, $0.1?.parameterValue ?? .null) })
    }

    /// Creates parameters with an array at the top, for JSON.
    public init(arrayLiteral elements: (any ParameterConvertible)?...) {
        root = .array(elements.map { $0?.parameterValue ?? .null })
    }
}
