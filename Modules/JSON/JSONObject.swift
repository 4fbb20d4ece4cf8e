/// A JSON object: values by name, in the order of the text, each name once.
///
/// Names are compared by their bytes. Two objects are equal if they have the same names and values in any order.
public struct JSONObject: Sendable {
    /// A name and its value.
    public typealias Element = (key: String, value: JSONValue)

    private var entries: [Element] = []
    // Small objects, which are the most frequent, are searched linearly.
    private var index: [NameBytes: Int] = [:]
    private static let largestWithoutIndex = 12

    /// Creates an empty object.
    public init() {}

    /// The value for a name; nil if there is none. Setting nil removes the name.
    public subscript(key: String) -> JSONValue? {
        get { place(of: key).map { entries[$0].value } }
        set {
            if let newValue {
                set(key, newValue)
            } else if let place = place(of: key) {
                remove(at: place)
            }
        }
    }

    /// The names in order.
    public var keys: [String] { entries.map(\.key) }

    /// Replaces the value for a name, or appends it.
    mutating func set(_ key: String, _ value: JSONValue) {
        if let place = place(of: key) {
            entries[place].value = value
            return
        }
        entries.append((key, value))
        if entries.count > Self.largestWithoutIndex + 1 {
            index[NameBytes(key)] = entries.count - 1
        } else if entries.count == Self.largestWithoutIndex + 1 {
            rebuildIndex()
        }
    }

    private mutating func remove(at place: Int) {
        entries.remove(at: place)
        index = [:]
        if entries.count > Self.largestWithoutIndex { rebuildIndex() }
    }

    private mutating func rebuildIndex() {
        for (place, entry) in entries.enumerated() { index[NameBytes(entry.key)] = place }
    }

    /// Whether the object has a name.
    func contains(_ key: String) -> Bool { place(of: key) != nil }

    private func place(of key: String) -> Int? {
        if entries.count > Self.largestWithoutIndex { return index[NameBytes(key)] }
        let key = NameBytes(key)
        return entries.firstIndex { NameBytes($0.key) == key }
    }
}

extension JSONObject: RandomAccessCollection {
    /// The first entry's position.
    public var startIndex: Int { 0 }
    /// The position after the last entry.
    public var endIndex: Int { entries.count }
    /// The entry at a position.
    public subscript(position: Int) -> Element { entries[position] }
}

extension JSONObject: Hashable {
    /// Whether both have the same values for the same names, in any order.
    public static func == (left: JSONObject, right: JSONObject) -> Bool {
        left.count == right.count && left.allSatisfy { right[$0.key] == $0.value }
    }

    /// Hashes the entries regardless of their order.
    public func hash(into hasher: inout Hasher) {
        var sum = 0
        for entry in entries {
            var own = Hasher()
            own.combine(NameBytes(entry.key))
            own.combine(entry.value)
            sum ^= own.finalize()
        }
        hasher.combine(count)
        hasher.combine(sum)
    }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
    /// Creates an object in the literal's order; a repeated name has its last value.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        for (key, value) in elements { set(key, value) }
    }
}
